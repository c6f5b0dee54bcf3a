import { describe, expect, it } from "vitest";
import { createMockTools } from "../../testing/mock-tools.ts";
import { createSimulatedClock } from "../../testing/simulated-clock.ts";
import {
  MAX_AVAILABLE_TOOLS,
  MAX_MESSAGE_CHARS,
  MAX_MESSAGES,
  MAX_RECOMMENDATIONS,
  type PlannedAction,
} from "../schema/mcp-loop.ts";
import { createCarriedContext, MAX_CARRIED_CHARS, MAX_CARRIED_SESSIONS } from "./turn/carried-context.ts";
import { MAX_REPLY_CHARS, parseReply } from "./llm/parse-reply.ts";
import { RECENT_MESSAGES } from "./turn/load-context.ts";
import { McpLoopRunner } from "./mcp-loop.ts";
import type { PlannerInput } from "./planner.ts";
import { MAX_ACTIONS } from "./read-plan.ts";
import { type LoopRequest, readRequest } from "./read-request.ts";
import { createTrace, MAX_TRACED_CALLS, MAX_TRACED_TEXT, MAX_TRACED_WARNINGS } from "./turn/trace.ts";

const request: LoopRequest = { mode: "general", sessionId: "s", messages: [{ role: "user", content: "hi" }] };
const message = (content: string) => ({ role: "user" as const, content });

describe("at the bounds of a request", () => {
  it.each([
    ["messages", (n: number) => ({ messages: Array.from({ length: n }, () => message("hi")) }), MAX_MESSAGES],
    ["characters of a message", (n: number) => ({ messages: [message("x".repeat(n))] }), MAX_MESSAGE_CHARS],
    [
      "recommendations",
      (n: number) => ({ plannerRecommendations: Array.from({ length: n }, () => "a") }),
      MAX_RECOMMENDATIONS,
    ],
    ["named tools", (n: number) => ({ availableTools: Array.from({ length: n }, () => "a") }), MAX_AVAILABLE_TOOLS],
  ])("takes as many %s as the bound says, and not one more", (_, make, bound) => {
    expect(readRequest({ ...request, ...make(bound) }).message).not.toBe("");
    expect(() => readRequest({ ...request, ...make(bound + 1) })).toThrow(
      expect.objectContaining({ code: "request_invalid" }),
    );
  });
});

describe("at the bounds of a turn", () => {
  it("keeps as many actions as the bound says and warns of the rest", async () => {
    const { registry, tools } = createMockTools();
    const plan = (length: number): PlannedAction[] =>
      Array.from({ length }, () => ({ tool: "mock_tool_a", args: { foo: "x" } }));
    const run = (length: number) => new McpLoopRunner({ registry, planner: () => plan(length) }).run(request);
    expect((await run(MAX_ACTIONS)).data?.trace?.["warnings"]).toEqual([]);
    expect((await run(MAX_ACTIONS + 1)).data?.trace?.["warnings"]).toMatchObject([{ code: "plan_cut" }]);
    expect(tools["mock_tool_a"]?.calls).toHaveLength(2 * MAX_ACTIONS);
  });

  it("shows the planner the newest messages, up to the bound", async () => {
    let seen: PlannerInput | undefined;
    const { registry } = createMockTools();
    const messages = Array.from({ length: RECENT_MESSAGES + 2 }, (_, n) => message(`m${String(n)}`));
    const planner = (input: PlannerInput) => ((seen = input), []);
    await new McpLoopRunner({ registry, planner }).run({ ...request, messages });
    expect(seen?.conversation.recentMessages).toHaveLength(RECENT_MESSAGES);
    expect(seen?.conversation.recentMessages.at(-1)?.content).toBe(`m${String(RECENT_MESSAGES)}`);
  });

  it("carries the context of as many sessions as the bound says, and none that is too large", () => {
    const carried = createCarriedContext();
    for (let n = 0; n <= MAX_CARRIED_SESSIONS; n += 1) carried.write("o", String(n), { n });
    expect(carried.read("o", "0")).toEqual({});
    expect(carried.read("o", "1")).toEqual({ n: 1 });
    const fits = { a: "x".repeat(MAX_CARRIED_CHARS - 8) };
    carried.write("o", "1", fits);
    expect(carried.read("o", "1")).toEqual(fits);
    carried.write("o", "1", { a: `${fits.a}x` });
    expect(carried.read("o", "1")).toEqual({});
  });

  it("reads a reply up to the bound", () => {
    const reply = (length: number) => `${" ".repeat(length - 2)}[]`;
    expect(parseReply({ text: reply(MAX_REPLY_CHARS), truncated: false })).toEqual({ ok: true, plan: [] });
    expect(parseReply({ text: reply(MAX_REPLY_CHARS + 1), truncated: false })).toMatchObject({ ok: false });
    expect(parseReply({ text: "[".repeat(MAX_REPLY_CHARS), truncated: false })).toMatchObject({ ok: false });
  });

  it("traces model calls up to the bound, and counts the tokens of all", () => {
    const trace = createTrace(createSimulatedClock(), {});
    const call = { purpose: "p", model: "m", ms: 1, prompt: "", usage: { inputTokens: 2, outputTokens: 1 } };
    for (let n = 0; n <= MAX_TRACED_CALLS; n += 1) trace.modelCall(call);
    const { modelCalls, tokens } = trace.value();
    expect(modelCalls).toHaveLength(MAX_TRACED_CALLS);
    expect(tokens).toEqual({ input: 2 * (MAX_TRACED_CALLS + 1), output: MAX_TRACED_CALLS + 1 });
  });

  it("traces texts and warnings up to the bound", () => {
    const trace = createTrace(createSimulatedClock(), {});
    for (let n = 0; n <= MAX_TRACED_WARNINGS; n += 1) trace.warn({ code: "w", message: "" });
    trace.modelCall({
      purpose: "p",
      model: "m",
      ms: 1,
      prompt: "x".repeat(MAX_TRACED_TEXT + 1),
      reply: "y".repeat(MAX_TRACED_TEXT),
    });
    const { warnings, modelCalls } = trace.value();
    expect(warnings).toHaveLength(MAX_TRACED_WARNINGS);
    expect(modelCalls).toMatchObject([
      {
        prompt: `${"x".repeat(MAX_TRACED_TEXT)}… (${String(MAX_TRACED_TEXT + 1)} characters)`,
        reply: "y".repeat(MAX_TRACED_TEXT),
      },
    ]);
  });
});
