// A server whose resources and prompts a test chooses: so many of each, and one text as long as asked for.
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const count = Number(process.argv[2] ?? "1");
let more = 0;

serveStdio(() => {
  const server = new McpServer({ name: "offering", version: "1.0.0" });
  const numbers = () => Array.from({ length: count + more }, (_, at) => String(at));
  server.registerTool("add", { description: "Adds one of each.", inputSchema: z.object({}) }, async () => {
    more += 1;
    server.sendResourceListChanged();
    server.sendPromptListChanged();
    return { content: [{ type: "text", text: String(count + more) }] };
  });
  server.server.registerCapabilities({ resources: { listChanged: true }, prompts: { listChanged: true } });
  server.server.setRequestHandler("resources/list", () => ({
    resources: numbers().map((n) => ({ uri: `count://${n}`, name: n })),
  }));
  server.server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: numbers().map((n) => ({ uriTemplate: `long://${n}/{chars}`, name: n })),
  }));
  server.server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const [, chars = "0"] = /^long:\/\/\d+\/(\d+)$/.exec(uri) ?? [];
    return { contents: [{ uri, text: chars === "0" ? (process.env["API_KEY"] ?? uri) : "x".repeat(Number(chars)) }] };
  });
  server.server.setRequestHandler("prompts/list", () => ({ prompts: numbers().map((name) => ({ name })) }));
  server.server.setRequestHandler("prompts/get", ({ params: { name } }) => ({
    messages: [{ role: "user", content: { type: "text", text: name } }],
  }));
  return server;
});
