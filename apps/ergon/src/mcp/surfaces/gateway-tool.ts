import type { Json, JsonObject } from "@ergon/core";
import type { ToolSummary } from "@ergon/core/schema";
import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { answer, outputSchema } from "../drive/answers.ts";
import { driveCall } from "../drive/drive-call.ts";
import { shownBlock } from "./gateway-address.ts";
import type { WithOwner } from "../drive/with-owner.ts";
import type { McpTool } from "../host/surface.ts";

type ShownTool = Pick<ToolSummary, "id" | "title" | "description" | "parameters" | "effects" | "outputSchema">;

/** Of a server's tool: the first part of its name. */
type OfServer = { readonly part: string };

/** A tool of the registry as a tool of ours. */
export function gatewayTool(tool: ShownTool, reach: WithOwner, server?: OfServer): McpTool {
  const { id, title, description, parameters, effects } = tool;
  const isDeclared = tool.outputSchema !== undefined;
  return {
    definition: {
      name: id,
      title,
      description,
      inputSchema: objectSchema(parameters),
      outputSchema: outputSchema(isDeclared ? tool.outputSchema : WRAPPED),
      annotations: {
        readOnlyHint: effects === "read" || effects === "pure",
        idempotentHint: effects !== "once",
        destructiveHint: effects === "once" || effects === "idempotent",
        openWorldHint: true,
      },
    },
    call: async (args, call) =>
      await driveCall<CallToolResult>(reach, call, {
        tool: id,
        args,
        called: { toolId: id, args },
        follow: server !== undefined,
        result: (output) =>
          resultOf(server === undefined || isDeclared ? output : shown(server.part, output), isDeclared),
        waiting: answer,
      }),
  };
}

const WRAPPED = { type: "object", properties: { output: {} }, required: ["output"] };

/** A server's own blocks (pictures, links) go on as they came; everything else is said in both forms. */
function resultOf(output: Json, isDeclared: boolean): CallToolResult {
  const structured = isDeclared && isObject(output) ? output : { output };
  const blocks = isObject(output) ? output["content"] : undefined;
  if (isDeclared || !Array.isArray(blocks) || !blocks.every(isBlock)) return answer(structured);
  return { content: blocks, structuredContent: structured };
}

/** What it links to can be read through us. */
function shown(part: string, output: Json): Json {
  const blocks = isObject(output) ? output["content"] : undefined;
  if (!isObject(output) || !Array.isArray(blocks)) return output;
  return { ...output, content: blocks.map((block: Json) => shownBlock(part, block)) };
}

function isBlock(value: Json): boolean {
  return isObject(value) && typeof value["type"] === "string";
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectSchema(parameters: ToolSummary["parameters"]): Tool["inputSchema"] {
  const schema = typeof parameters === "boolean" ? {} : parameters;
  return { ...schema, type: "object" };
}
