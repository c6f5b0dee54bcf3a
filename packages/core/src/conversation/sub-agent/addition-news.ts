import { z } from "zod";
import { showHidden } from "../../approvals/hidden-text.ts";
import { conversationOf } from "../../hub/sub-agent.ts";
import type { SubAgentMessage } from "../../schema/hub.ts";
import type { Finding } from "./discovery.ts";

const MAX_NAMED = 10;

const Told = z.object({
  state: z.string(),
  message: z.string(),
  result: z
    .object({
      serverId: z.string(),
      approvalId: z.string().optional(),
      about: z.object({ tools: z.array(z.string()) }),
    })
    .optional(),
});

/**
 * What the sub-agent says of a server that a conversation asked for: that a person must approve it, that its tools are there,
 * or that nothing came of it. The last two are the end of what the conversation waited for, and it is taken up again.
 */
export function additionNews({ type, requestId, owner, data }: SubAgentMessage): Finding | undefined {
  const conversationId = conversationOf(requestId);
  const told = Told.safeParse(data).data;
  if (conversationId === undefined || told === undefined) return undefined;
  const { state, message, result } = told;
  const to = { conversationId, owner };
  if (type === "error") return { ...to, text: showHidden(message), takesUp: true };
  if (type === "tool_available" && result !== undefined) return { ...to, text: toolsOf(result), takesUp: true };
  if (state !== "awaiting_approval" || result?.approvalId === undefined) return undefined;
  const text = `The MCP server "${showHidden(result.serverId)}" is installed and waits for your approval: ergon approvals approve ${result.approvalId}`;
  return { ...to, text };
}

function toolsOf({ serverId, about }: NonNullable<z.infer<typeof Told>["result"]>): string {
  const names = about.tools.slice(0, MAX_NAMED).map((name) => showHidden(`${serverId}_${name}`));
  const more = about.tools.length > MAX_NAMED ? ` and ${String(about.tools.length - MAX_NAMED)} more` : "";
  // A server that could not be tried before it was approved has told its tools to the hub alone.
  const which = names.length === 0 ? ` (mcp_list_available_tools lists them)` : `: ${names.join(", ")}${more}`;
  return `The MCP server "${showHidden(serverId)}" was approved. Its tools can be used now${which}.`;
}
