import { setTimeout as sleep } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/server";
import type { McpChanges } from "../../apps/ergon/src/mcp/host/changes.ts";
import type { McpTool } from "../../apps/ergon/src/mcp/host/surface.ts";
import { PNG, WAV } from "./samples.ts";

const PAUSE_MS = 50;
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;

export function plainTool(
  name: string,
  call: McpTool["call"],
  properties: Readonly<Record<string, { readonly type: string }>> = {},
): McpTool {
  const inputSchema = { type: "object" as const, properties: { ...properties }, required: Object.keys(properties) };
  return { definition: { name, description: `For the conformance suite: ${name}`, inputSchema }, call };
}

export function text(said: string): CallToolResult {
  return { content: [{ type: "text", text: said }] };
}

/** Tools that need nothing of the client. */
export function plainTools(changes: McpChanges): readonly McpTool[] {
  const changing = (name: string, list: "tools" | "prompts") =>
    plainTool(name, async () => {
      changes.announce({ kind: "list", list });
      return text("Announced.");
    });
  return [
    plainTool("test_simple_text", async () => text("This is a simple text response for testing.")),
    plainTool("test_image_content", async () => ({ content: [IMAGE] })),
    plainTool("test_audio_content", async () => ({ content: [{ type: "audio", data: WAV, mimeType: "audio/wav" }] })),
    plainTool("test_embedded_resource", async () => {
      const uri = "test://embedded-resource";
      const resource = { uri, mimeType: "text/plain", text: "This is an embedded resource content." };
      return { content: [{ type: "resource", resource }] };
    }),
    plainTool("test_multiple_content_types", async () => {
      const uri = "test://mixed-content-resource";
      const resource = { uri, mimeType: "application/json", text: '{"test":"data","value":123}' };
      const content = [{ type: "text", text: "Multiple content types test:" }, IMAGE, { type: "resource", resource }];
      return { content } as CallToolResult;
    }),
    plainTool("test_tool_with_logging", async (_, { log }) => {
      log("info", { said: "Tool execution started" });
      await sleep(PAUSE_MS);
      log("info", { said: "Tool processing data" });
      await sleep(PAUSE_MS);
      log("info", { said: "Tool execution completed" });
      return text("Logged.");
    }),
    plainTool("test_logging_tool", async (_, { log }) => {
      log("info", { said: "A line that nobody asked for" });
      return text("Logged.");
    }),
    plainTool("test_tool_with_progress", async (_, { progress }) => {
      for (const done of [0, 50, 100]) {
        progress({ progress: done, total: 100 });
        await sleep(PAUSE_MS);
      }
      return text("Done.");
    }),
    plainTool("test_error_handling", async () => {
      throw new Error("This tool intentionally returns an error for testing");
    }),
    changing("test_trigger_tool_change", "tools"),
    changing("test_trigger_prompt_change", "prompts"),
  ];
}
