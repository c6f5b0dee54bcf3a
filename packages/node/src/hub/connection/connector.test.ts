import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { mcpConnectorContract } from "@ergon/core/testing/contracts";
import { createMcpConnector } from "./connector.ts";

const file = join(import.meta.dirname, "../hostile-server.fixture.ts");
const server = (...args: readonly string[]) => ({
  id: "hostile",
  name: "hostile",
  command: process.execPath,
  args: [file, ...args],
  enabled: true,
});

mcpConnectorContract("pipes", () => createMcpConnector({ logger: silentLogger }), {
  fine: server("fine"),
  failing: server("exits", "canary-secret"),
  secret: "canary-secret",
});
