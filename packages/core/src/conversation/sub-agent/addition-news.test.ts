import { expect, it } from "vitest";
import { additionId, conversationOf } from "../../hub/sub-agent.ts";
import type { SubAgentMessage } from "../../schema/hub.ts";
import { additionNews } from "./addition-news.ts";

const requestId = additionId("conv_01abc:1110");
const tools = Array.from({ length: 12 }, (_, n) => `t${String(n)}`);
const result = { serverId: "notes", approvalId: "apr_1", about: { tools } };
const message = (type: SubAgentMessage["type"], state: string, more: object = {}, id = requestId): SubAgentMessage => ({
  type,
  requestId: id,
  owner: "ada",
  data: { requestId: id, state, progress: 0, message: "It said.", energyConsumed: 0, ...more },
});

it("A request names the conversation that made it, and only a conversation.", () => {
  expect(conversationOf(requestId)).toBe("conv_01abc");
  expect(additionId("conv_01abc:1110")).toBe(requestId);
  expect(conversationOf(additionId("ses_01abc:1110"))).toBeUndefined();
});

it("A conversation hears that a person must approve, that the tools are there, and that nothing came of it.", () => {
  const to = { conversationId: "conv_01abc", owner: "ada" };
  expect(additionNews(message("status_update", "awaiting_approval", { result }))).toEqual({
    ...to,
    text: expect.stringMatching(/"notes" is installed .* ergon approvals approve apr_1$/) as string,
  });
  expect(additionNews(message("tool_available", "completed", { result }))).toEqual({
    ...to,
    takesUp: true,
    text: expect.stringMatching(/used now: notes_t0, .*notes_t9 and 2 more\.$/) as string,
  });
  const untried = { ...result, about: { tools: [] } };
  expect(additionNews(message("tool_available", "completed", { result: untried }))?.text).toMatch(
    /used now \(mcp_list_available_tools lists them\)\.$/,
  );
  expect(additionNews(message("error", "failed"))).toEqual({ ...to, takesUp: true, text: "It said." });
});

it("Nothing is said of other requests and of steps on the way.", () => {
  expect(additionNews(message("status_update", "in_progress"))).toBeUndefined();
  expect(additionNews(message("completion", "completed", { result }))).toBeUndefined();
  expect(additionNews(message("error", "failed", {}, "sub_1"))).toBeUndefined();
});
