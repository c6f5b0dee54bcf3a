// Servers for the bench of the hub: an echo over pipes or HTTP, and one with many tools.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [kind = "stdio", count = "1"] = process.argv.slice(2);
const inputSchema = z.object({ city: z.string(), days: z.number().int().min(1) });

function server(): McpServer {
  const made = new McpServer({ name: "bench", version: "1.0.0" });
  const tool = (name: string, readOnlyHint: boolean) =>
    made.registerTool(
      name,
      { description: `${name}: what the weather is like in a city.`, inputSchema, annotations: { readOnlyHint } },
      ({ city }) => ({ content: [{ type: "text", text: city }] }),
    );
  tool("read", true);
  tool("once", false);
  for (let n = 2; n < Number(count); n += 1) tool(`tool_${String(n)}`, true);
  return made;
}

if (kind === "stdio") serveStdio(server);
else {
  const handle = toNodeHandler(createMcpHandler(server, {}));
  const http = createServer((request, response) => {
    void handle(request as Parameters<typeof handle>[0], response);
  });
  http.listen(0, "127.0.0.1", () =>
    console.log(`http://127.0.0.1:${String((http.address() as AddressInfo).port)}/mcp`),
  );
}
