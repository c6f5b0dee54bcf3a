import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createMockTools, type MockTools } from "../../testing/mock-tools.ts";
import { createMemoryLogger } from "../memory/logger.ts";
import { createMemoryStateStore } from "../memory/state-store.ts";
import type { PlannedAction } from "../schema/mcp-loop.ts";
import { defineAction, defineTool } from "../tools/define.ts";
import { McpLoopRunner, runMcpLoop } from "./mcp-loop.ts";
import type { PlannerInput } from "./planner.ts";
import type { LoopRequest } from "./read-request.ts";

let mocks: MockTools;
beforeEach(() => {
  mocks = createMockTools();
});

function ask(content: string, more: Partial<LoopRequest> = {}): LoopRequest {
  return { mode: "general", sessionId: "s1", messages: [{ role: "user", content }], ...more };
}

function planning(...plan: readonly PlannedAction[]) {
  return { registry: mocks.registry, planner: () => [...plan] };
}

const A: PlannedAction = { tool: "mock_tool_a", args: { foo: "bar" } };
const B: PlannedAction = { tool: "mock_tool_b", args: { x: 1 } };

describe("spec 1's scenarios", () => {
  it("runs a valid plan in order and puts each output into the context", async () => {
    const response = await runMcpLoop(ask("Do both"), planning(A, B));
    expect(response).toMatchObject({
      success: true,
      data: {
        plan: [A, B],
        context: { mock_tool_a: "ran A with bar", mock_tool_b: { doubled: 2 }, sessionId: "s1", mode: "general" },
        intermediateResults: [
          { tool: "mock_tool_a", input: { foo: "bar" }, output: "ran A with bar", success: true },
          { tool: "mock_tool_b", input: { x: 1 }, output: { doubled: 2 }, success: true },
        ],
      },
    });
    expect(mocks.tools["mock_tool_b"]?.calls[0]?.context).toMatchObject({ mock_tool_a: "ran A with bar" });
  });

  it("leaves an unknown tool out, says so, and runs the rest", async () => {
    const unknown = { tool: "mock_tool_c", args: {} };
    const response = await runMcpLoop(ask("Do it"), planning(A, unknown, B));
    expect(response.success).toBe(true);
    expect(response.data?.intermediateResults).toMatchObject([
      { tool: "mock_tool_a", success: true },
      { tool: "mock_tool_c", success: false, error: expect.stringContaining('Did you mean "mock_tool_a"?') as string },
      { tool: "mock_tool_b", success: true },
    ]);
    expect(response.data?.trace?.["warnings"]).toMatchObject([{ code: "tool_unknown" }]);
  });

  it("names the unknown tool too when the arguments of another do not fit, in the error and in the log", async () => {
    const logger = createMemoryLogger();
    const plan = planning({ tool: "mock_tool_a", args: {} }, { tool: "unknown_tool", args: {} });
    await expect(runMcpLoop(ask("Do it"), { ...plan, logger })).rejects.toMatchObject({
      code: "args_invalid",
      message: expect.stringMatching(/mock_tool_a[^]*unknown_tool/) as string,
    });
    expect(JSON.stringify(logger.entries())).toContain("unknown_tool");
  });

  it("refuses the whole run for an unknown tool when it is strict, and runs nothing", async () => {
    const strict = { ...planning(A, { tool: "unknown_tool", args: {} }), strict: true };
    await expect(runMcpLoop(ask("Do it"), strict)).rejects.toMatchObject({
      code: "tool_unknown",
      message: expect.stringContaining("unknown_tool") as string,
    });
    expect(mocks.tools["mock_tool_a"]?.calls).toEqual([]);
  });

  it("throws for arguments that do not fit, naming the tool and every issue, and runs nothing", async () => {
    const plan = planning(
      A,
      { tool: "mock_tool_a", args: { foo: 5 } },
      { tool: "mock_tool_b", args: { invalidKey: 123 } },
    );
    await expect(runMcpLoop(ask("Do it"), plan)).rejects.toMatchObject({
      code: "args_invalid",
      message: expect.stringMatching(/mock_tool_a.*foo[^]*mock_tool_b.*"x"/) as string,
      details: { issues: [{ toolId: "mock_tool_a" }, { toolId: "mock_tool_b" }] },
    });
    expect(mocks.tools["mock_tool_a"]?.calls).toEqual([]);
  });

  it("does nothing, without an error, for an empty plan", async () => {
    const response = await runMcpLoop(ask("Nothing"), planning());
    expect(response).toMatchObject({ success: true, data: { plan: [], intermediateResults: [] } });
  });
});

describe("a turn of the loop", () => {
  it.each([
    [{ messages: [] }, "/messages"],
    [{ messages: [{ role: "user", content: "  " }] }, "/messages"],
    [{ mode: "admin" }, "/mode"],
    [{ sessionId: "../x" }, "/sessionId"],
  ])("refuses a request that cannot be read: %j", async (wrong, path) => {
    const request = { ...ask("hi"), ...wrong } as LoopRequest;
    await expect(runMcpLoop(request, planning(A))).rejects.toMatchObject({
      code: "request_invalid",
      details: { issues: [{ path }] },
    });
    expect(mocks.tools["mock_tool_a"]?.calls).toEqual([]);
  });

  it("takes the caller's word for the message where the last one is empty", async () => {
    const request = ask("", { context: { lastMessage: "From the caller" } });
    expect(await runMcpLoop(request, planning(A))).toMatchObject({ success: true });
  });

  it("records a tool that throws and goes on", async () => {
    mocks.registry.register(broken);
    const response = await runMcpLoop(ask("Try"), planning({ tool: "breaks", args: {} }, A));
    expect(response.success).toBe(true);
    expect(response.data?.intermediateResults).toMatchObject([
      { tool: "breaks", success: false, error: "no luck", output: null },
      { tool: "mock_tool_a", success: true },
    ]);
  });

  it("stops at the first tool that fails when it is strict", async () => {
    mocks.registry.register(broken);
    const response = await runMcpLoop(ask("Try", { strict: true }), planning(B, { tool: "breaks", args: {} }, A));
    expect(response).toMatchObject({ success: false, error: "no luck" });
    expect(response.data?.intermediateResults).toMatchObject([{ success: true }, { tool: "breaks", success: false }]);
    expect(mocks.tools["mock_tool_a"]?.calls).toEqual([]);
  });

  it("counts an action's own failure as one, and keeps what it said", async () => {
    mocks.registry.register(
      defineAction({
        id: "declines",
        description: "Declines.",
        actionFn: async () => ({ success: false, error: { type: "not_found", message: "Nobody of that name." } }),
      }),
    );
    const response = await runMcpLoop(ask("Try"), planning({ tool: "declines", args: {} }));
    expect(response.data?.intermediateResults).toMatchObject([
      { success: false, error: "Nobody of that name.", output: { error: { type: "not_found" } } },
    ]);
  });

  it("throws when arguments turn out wrong only as the tool is reached, after what came before", async () => {
    mocks.registry.register(
      defineAction({
        id: "fussy",
        description: "Takes a number.",
        argsSchema: z.object({ n: z.number() }),
        getDefaultArgs: ({ mock_tool_a: a }) => (a === undefined ? {} : { n: a }),
        actionFn: async () => ({ success: true }),
      }),
    );
    const runner = new McpLoopRunner(planning(A, { tool: "fussy", args: {} }, B));
    const { response, thrown } = await runner.attempt(ask("Try"));
    expect(thrown).toMatchObject({ code: "args_invalid", message: expect.stringContaining("fussy") as string });
    expect(response).toMatchObject({
      success: false,
      data: { intermediateResults: [{ success: true }, { tool: "fussy" }] },
    });
    expect(mocks.tools["mock_tool_b"]?.calls).toEqual([]);
  });

  it("keeps tools to the request's mode and to those that it names", async () => {
    const offered: string[][] = [];
    mocks.registry.register(
      defineAction({
        id: "forHiring",
        description: "…",
        applicableRoles: ["hiring"],
        actionFn: async () => ({ success: true }),
      }),
    );
    const planner = ({ tools }: PlannerInput) => {
      offered.push(tools.map(({ id }) => id));
      return [{ tool: "forHiring", args: {} }];
    };
    const deps = { registry: mocks.registry, planner };
    expect((await runMcpLoop(ask("x"), deps)).data?.intermediateResults).toMatchObject([{ success: false }]);
    expect((await runMcpLoop(ask("x", { mode: "hiring" }), deps)).data?.intermediateResults).toMatchObject([
      { success: true },
    ]);
    await runMcpLoop(ask("x", { mode: "hiring", availableTools: ["forHiring"] }), deps);
    expect(offered[0]).not.toContain("forHiring");
    expect(offered[1]).toContain("forHiring");
    expect(offered[2]).toEqual(["finalize_summary", "forHiring"]);
  });

  it("takes whole tools with the request, for this run alone", async () => {
    const extra = defineTool({
      name: "extra",
      description: "Is brought along.",
      argsSchema: z.object({}),
      run: () => "brought",
    });
    const deps = planning({ tool: "extra", args: {} });
    const response = await runMcpLoop(ask("x", { availableTools: [extra] }), deps);
    expect(response.data?.context).toMatchObject({ extra: "brought" });
    expect((await runMcpLoop(ask("x"), deps)).data?.intermediateResults).toMatchObject([{ success: false }]);
    expect(mocks.registry.has("extra")).toBe(false);
  });

  it("sums up once and last when that is planned, from what the tools found", async () => {
    const finalize = { tool: "finalize_summary", args: {} };
    const response = await runMcpLoop(ask("Go"), planning(finalize, A, finalize, B));
    expect(response.data?.summaryMessage).toBe("ran A with bar.\ndoubled: 2.");
    expect(response.data?.intermediateResults?.map(({ tool }) => tool)).toEqual([
      "mock_tool_a",
      "mock_tool_b",
      "finalize_summary",
    ]);
    expect((await runMcpLoop(ask("Go"), planning(A))).data).not.toHaveProperty("summaryMessage");
  });

  it("asks when the planner has a question and nothing to do", async () => {
    const planner = () => ({ plan: [], question: "Which person do you mean?" });
    const response = await runMcpLoop(ask("Compare them"), { registry: mocks.registry, planner });
    expect(response).toMatchObject({ success: true, data: { summaryMessage: "Which person do you mean?", plan: [] } });
  });

  it("answers a planner that fails, or that answers no plan, as a failed run", async () => {
    const failing = { registry: mocks.registry, planner: () => Promise.reject(new Error("out of order")) };
    expect(await runMcpLoop(ask("x"), failing)).toMatchObject({ success: false, error: "out of order" });
    const talking = { registry: mocks.registry, planner: () => "first I would…" as unknown as PlannedAction[] };
    expect(await runMcpLoop(ask("x"), talking)).toMatchObject({
      success: false,
      error: expect.stringContaining("no plan") as string,
    });
  });

  it("goes on without memory and embedder, and says so in the trace", async () => {
    const down = () => Promise.reject(new Error("down"));
    const deps = { ...planning(A), memory: { load: down, append: down }, embedder: { model: "m", embed: down } };
    const response = await runMcpLoop(ask("x"), deps);
    expect(response.success).toBe(true);
    expect(response.data?.trace?.["warnings"]).toMatchObject(
      ["embedder_unavailable", "memory_unavailable", "memory_unavailable"].map((code) => ({ code })),
    );
  });

  it("traces its stages and steps", async () => {
    const { data } = await runMcpLoop(ask("x"), planning(A, B));
    expect(data?.trace).toMatchObject({
      status: "completed",
      planner: "injected",
      stages: [{ stage: "context" }, { stage: "plan" }, { stage: "execute" }, { stage: "finalize" }],
      steps: [
        { tool: "mock_tool_a", success: true },
        { tool: "mock_tool_b", success: true },
      ],
    });
  });

  it("stops when nobody waits any longer", async () => {
    const stop = new AbortController();
    mocks.registry.register(
      defineTool({
        name: "waits",
        description: "Waits.",
        argsSchema: z.object({}),
        effects: "read",
        run: (_, { signal }) => {
          stop.abort();
          return new Promise((_resolve, reject) =>
            signal.addEventListener("abort", () => reject(new Error("stopped"))),
          );
        },
      }),
    );
    const runner = new McpLoopRunner(planning({ tool: "waits", args: {} }, A));
    await expect(runner.run(ask("x"), { signal: stop.signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(mocks.tools["mock_tool_a"]?.calls).toEqual([]);
  });
});

describe("a session of several turns", () => {
  it("shows turn two what was said and found in turn one", async () => {
    const seen: PlannerInput[] = [];
    const planner = (input: PlannerInput) => {
      seen.push(input);
      return seen.length === 1 ? [A, { tool: "finalize_summary", args: {} }] : [B];
    };
    const runner = new McpLoopRunner({ registry: mocks.registry, planner });
    await runner.run(ask("Run tool A with bar"));
    const second = await runner.run(ask("And what did tool A say?"));
    expect(seen[1]?.conversation.recentMessages.map(({ content }) => content)).toEqual([
      "Run tool A with bar",
      "ran A with bar",
    ]);
    expect(seen[1]?.context).toMatchObject({ mock_tool_a: "ran A with bar" });
    expect(second.data?.semanticMatches).not.toEqual([]);
    expect(second.data?.context).toMatchObject({ mock_tool_a: "ran A with bar", mock_tool_b: { doubled: 2 } });
    await runner.run(ask("Hello", { sessionId: "other" }));
    expect(seen[2]?.conversation.recentMessages).toEqual([]);
    expect(seen[2]?.context).not.toHaveProperty("mock_tool_a");
  });

  it("remembers for calls of runMcpLoop on one registry too", async () => {
    const seen: PlannerInput[] = [];
    const deps = { registry: mocks.registry, planner: (input: PlannerInput) => (seen.push(input), [A]) };
    await runMcpLoop(ask("First"), deps);
    await runMcpLoop(ask("Second"), deps);
    expect(seen[1]?.conversation.recentMessages[0]?.content).toBe("First");
  });

  it("keeps sessions, history and traces in a store that it is given", async () => {
    const store = createMemoryStateStore();
    const runner = new McpLoopRunner({ ...planning(A), store });
    await runner.run(ask("One"), { owner: "ana" });
    await runner.run(ask("Two"), { owner: "ana" });
    expect(await store.readSession("s1")).toMatchObject({ owner: "ana", core: { status: "completed", run: 2 } });
    const types = (await store.readEvents({ afterSeq: 0, sessionId: "s1", limit: 100 })).map(({ type }) => type);
    expect(types.filter((type) => !type.startsWith("step-") && !type.startsWith("energy"))).toEqual(
      Array.from({ length: 2 }, (_, n) => [
        ...(n === 0 ? ["session-created"] : []),
        "message-received",
        "plan-made",
        "session-started",
        "session-completed",
        "response-sent",
      ]).flat(),
    );
    await expect(runner.run(ask("Mine?"), { owner: "bo" })).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("does not take an earlier turn's result for this turn's when the tool fails now", async () => {
    let fails = false;
    mocks.registry.register(
      defineTool({
        name: "moody",
        description: "Works once.",
        argsSchema: z.object({}),
        run: () => {
          if (fails) throw new Error("not again");
          fails = true;
          return "worked";
        },
      }),
    );
    const runner = new McpLoopRunner(planning({ tool: "moody", args: {} }, { tool: "finalize_summary", args: {} }));
    expect((await runner.run(ask("x"))).data?.summaryMessage).toBe("worked");
    const second = await runner.run(ask("x"));
    expect(second.data?.context).not.toHaveProperty("moody");
    expect(second.data?.summaryMessage).toBe("moody failed: not again");
  });

  it("hands what actions leave for prompts to those that follow", async () => {
    const heard: unknown[] = [];
    const leaves = (id: string) =>
      defineAction({
        id,
        description: "Leaves something.",
        actionFn: async ({ context }) => {
          heard.push(context["downstreamData"]);
          return {
            success: true,
            dataForDownstreamPrompt: {
              [id]: { dataSummary: `${id} found 3.`, structured: { n: 3 }, truncated: false },
            },
          };
        },
      });
    mocks.registry.register(leaves("first"));
    mocks.registry.register(leaves("second"));
    const plan = [
      { tool: "first", args: {} },
      { tool: "second", args: {} },
      { tool: "finalize_summary", args: {} },
    ];
    const response = await runMcpLoop(ask("x"), planning(...plan));
    expect(heard[1]).toMatchObject({ first: { dataSummary: "first found 3." } });
    expect(response.data?.context?.["downstreamData"]).toMatchObject({ first: {}, second: {} });
    expect(response.data?.summaryMessage).toBe("first found 3.\nsecond found 3.");
  });
});

const broken = defineTool({
  name: "breaks",
  description: "Breaks.",
  argsSchema: z.object({}),
  run: () => {
    throw new Error("no luck");
  },
});
