// A bare echo tool on the same SDK, both eras on one address, or on stdio: what can be had on this machine.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function echoServer(): McpServer {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  const inputSchema = z.object({ loop_id: z.string(), current_score: z.number() });
  server.registerTool("echo", { description: "Echoes", inputSchema }, (args) => ({
    content: [{ type: "text", text: JSON.stringify(args) }],
    structuredContent: args,
  }));
  return server;
}

if (process.argv[2] === "stdio") {
  serveStdio(echoServer);
} else {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const modern = toNodeHandler(createMcpHandler(echoServer, { legacy: "reject" }));
  const bodyOf = async (request: IncomingMessage): Promise<unknown> => JSON.parse(await text(request)) as unknown;
  const http = createServer((request, response) => {
    const serve = async (): Promise<void> => {
      const body = await bodyOf(request);
      if (request.headers["mcp-method"] !== undefined) {
        await modern(request as Parameters<typeof modern>[0], response, body);
        return;
      }
      const known = sessions.get(String(request.headers["mcp-session-id"] ?? ""));
      const transport = known ?? (await openSession());
      await transport.handleRequest(request, response, body);
    };
    serve().catch(() => response.destroy());
  });
  const openSession = async (): Promise<NodeStreamableHTTPServerTransport> => {
    const id = randomUUID();
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: () => id });
    sessions.set(id, transport);
    await echoServer().connect(transport);
    return transport;
  };
  http.listen(0, "127.0.0.1", () => {
    const { port } = http.address() as AddressInfo;
    console.log(`http://127.0.0.1:${String(port)}`);
  });
}
