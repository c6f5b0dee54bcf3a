import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import type { McpConnection, MCPServerConfig } from "@ergon/core/hub";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { createMcpConnector } from "./connector.ts";
import { MAX_KNOWN_ERAS, openKnownEras } from "./known-eras.ts";

vi.setConfig({ testTimeout: 60_000 });
const folder = mkdtempSync(join(tmpdir(), "ergon-eras-"));
const path = join(folder, "eras.json");
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  rmSync(path, { force: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (address: Partial<MCPServerConfig>): MCPServerConfig => ({ id: "s", name: "s", enabled: true, ...address });

describe("what is known of servers' protocols", () => {
  it("saves an old server its second process at the next start", async () => {
    const starts = join(folder, "starts");
    const hostile = join(import.meta.dirname, "../hostile-server.fixture.ts");
    const script = `echo . >> ${starts}; exec "$0" ${hostile} dies-when-asked`;
    const config = at({ command: "/bin/sh", args: ["-c", script, process.execPath] });
    const started = () => readFileSync(starts, "utf8").trim().split("\n").length;
    expect((await opened(config)).report()).toMatchObject({ state: "ready", protocol: "legacy" });
    expect(started()).toBe(2);
    expect((await opened(config)).report()).toMatchObject({ state: "ready", protocol: "legacy" });
    expect(started()).toBe(3);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is found out again when the server has been brought up to date", async () => {
    const handle = toNodeHandler(
      createMcpHandler(() => new McpServer({ name: "new", version: "1" }), { legacy: "reject" }),
    );
    const server = createServer((request, response) => void handle(request as never, response)).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => server.close().closeAllConnections());
    const config = at({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/mcp` });
    openKnownEras(path).note(config, "legacy");
    expect((await opened(config)).report()).toMatchObject({ state: "ready", protocol: "modern" });
    expect(openKnownEras(path).find(config)).toBe("modern");
  });

  it("is forgotten after a while, when its file is damaged, and past its bound", () => {
    let nowMs = 1_000;
    const eras = openKnownEras(path, () => nowMs);
    eras.note(at({ command: "first" }), "legacy");
    expect(openKnownEras(path, () => nowMs).find(at({ command: "first" }))).toBe("legacy");
    expect(eras.find(at({ command: "first", args: ["other"] }))).toBeUndefined();
    for (let n = 1; n <= MAX_KNOWN_ERAS; n += 1) {
      nowMs += 1;
      eras.note(at({ command: `c${String(n)}` }), "legacy");
    }
    expect(eras.find(at({ command: "first" }))).toBeUndefined();
    expect(eras.find(at({ command: "c1" }))).toBe("legacy");
    nowMs += 8 * 86_400_000;
    expect(eras.find(at({ command: "c1" }))).toBeUndefined();
    writeFileSync(path, "{ no book");
    expect(openKnownEras(path).find(at({ command: "c1" }))).toBeUndefined();
  });
});

async function opened(config: MCPServerConfig): Promise<McpConnection> {
  const connector = createMcpConnector({ logger: silentLogger, eras: openKnownEras(path) });
  const connection = connector.open({ config, secrets: [], onChange: () => undefined });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}
