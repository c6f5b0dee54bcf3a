import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createEngineWorld } from "../../../testing/engine/engine-world.ts";
import { createMockTools } from "../../../testing/mock-tools.ts";
import { createScriptedModel } from "../../../testing/scripted-model.ts";
import { createConversationMemory } from "../../memory/conversation-memory.ts";
import { createMemoryBlobStore } from "../../memory/blob-store.ts";
import { createMemoryStateStore } from "../../memory/state-store.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { defineAction, defineTool } from "../../tools/define.ts";
import { allowAll } from "../../tools/gate/policy.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createFinalizeSummary } from "./finalize-summary.ts";
import { type LoopDeps, McpLoopRunner } from "../mcp-loop.ts";
import type { LoopRequest } from "../read-request.ts";

const A: PlannedAction = { tool: "mock_tool_a", args: { foo: "bar" } };
const BREAKS: PlannedAction = { tool: "breaks", args: {} };
const DECLINES: PlannedAction = { tool: "declines", args: {} };
const SUM: PlannedAction = { tool: "finalize_summary", args: {} };

function say(content: string): LoopRequest {
  return { mode: "general", sessionId: "s", messages: [{ role: "user", content }] };
}

function setUp(plan: readonly PlannedAction[], deps: LoopDeps = {}) {
  const { registry } = createMockTools();
  registry.register(
    defineTool({
      name: "breaks",
      description: "Breaks.",
      argsSchema: z.object({}),
      run: () => Promise.reject(new Error("the disk is full")),
    }),
  );
  registry.register(
    defineAction({
      id: "declines",
      description: "Declines.",
      actionFn: async () => ({
        success: false,
        error: { type: "db_down", message: "The database is down.", details: 1 },
      }),
    }),
  );
  return new McpLoopRunner({ registry, planner: () => plan, ...deps });
}

describe("the outcome of a turn", () => {
  it("is answered when everything that was planned succeeded", async () => {
    const response = await setUp([A, SUM]).run(say("Do it"));
    expect(response).toMatchObject({ success: true, data: { outcome: "answered", summaryMessage: "ran A with bar" } });
  });

  it("is partial when some of it failed, and the summary says what and why", async () => {
    const response = await setUp([BREAKS, A, DECLINES, SUM]).run(say("Do it"));
    expect(response).toMatchObject({ success: true, data: { outcome: "partial" } });
    expect(response.data?.summaryMessage).toBe(
      "ran A with bar.\nbreaks failed: the disk is full.\ndeclines failed: The database is down.",
    );
    expect(response.data?.intermediateResults).toMatchObject([
      { success: false, code: "tool_failed" },
      { success: true },
      { success: false, code: "db_down" },
      { success: true },
    ]);
  });

  it("is failed, with the reasons, when every tool failed", async () => {
    const response = await setUp([BREAKS, DECLINES, SUM]).run(say("Do it"));
    expect(response).toMatchObject({ success: false, code: "tools_failed", data: { outcome: "failed" } });
    expect(response).toMatchObject({
      error: expect.stringMatching(/breaks: the disk is full.*declines: The database is down/) as string,
    });
    expect(response.data?.intermediateResults).toHaveLength(3);
  });

  it("is failed when no planned tool is there", async () => {
    const response = await setUp([{ tool: "nope", args: {} }]).run(say("Do it"));
    expect(response).toMatchObject({ success: false, code: "tools_failed", data: { outcome: "failed" } });
  });

  it("is waiting when only a question came back", async () => {
    const runner = setUp([], { planner: () => ({ plan: [], question: "Which one?" }) });
    expect(await runner.run(say("Do it"))).toMatchObject({
      success: true,
      data: { outcome: "waiting", summaryMessage: "Which one?" },
    });
  });

  it("tells the model that sums up which tools failed and why", async () => {
    const model = createScriptedModel(["A ran; the rest did not."]);
    await setUp([BREAKS, A, DECLINES, SUM], { model }).run(say("Do it"));
    const [prompt] = model.requests.map(({ messages }) => messages.map(({ content }) => content).join("\n"));
    expect(prompt).toContain("the disk is full");
    expect(prompt).toContain("The database is down.");
    expect(prompt).not.toContain("1 fields");
  });

  it("does not tell an earlier turn's failure as this turn's", async () => {
    let fails = true;
    const registry = new ToolRegistry();
    registry.register(
      defineTool({
        name: "moody",
        description: "Fails once.",
        argsSchema: z.object({}),
        run: async () => {
          if (fails) throw new Error("not now");
          return "fine";
        },
      }),
    );
    const runner = new McpLoopRunner({ registry, planner: () => [{ tool: "moody", args: {} }, SUM] });
    expect(await runner.run(say("Try"))).toMatchObject({ data: { outcome: "failed" } });
    fails = false;
    expect(await runner.run(say("Again"))).toMatchObject({ data: { outcome: "answered", summaryMessage: "fine" } });
  });
});

describe("a turn that waits for a person", () => {
  const PERSON = { name: "ada", scope: "person" } as const;

  async function waiting() {
    const world = createEngineWorld();
    world.registry.register(createFinalizeSummary());
    const memory = createConversationMemory();
    let plan: readonly PlannedAction[] = [];
    const deps = { registry: world.registry, memory, clock: world.clock, ids: world.ids };
    const runner = new McpLoopRunner({ ...deps, planner: () => plan, place: world });
    return { world, memory, runner, next: (actions: readonly PlannedAction[]) => void (plan = actions) };
  }

  it("says so, with a code and the approval's id, and remembers what came of it in the end", async () => {
    const { world, memory, runner, next } = await waiting();
    world.registry.register(
      defineTool({
        name: "wipe",
        description: "Wipes.",
        argsSchema: z.object({}),
        destructiveHint: true,
        run: async () => "Wiped.",
      }),
    );
    next([{ tool: "wipe", args: {} }, SUM]);
    const response = await runner.run(say("Wipe it"), { owner: "o" });
    expect(response).toMatchObject({ success: false, code: "waiting", data: { outcome: "waiting" } });
    const approvalId = response.data?.waiting?.[0]?.approvalId ?? "";
    expect(approvalId).not.toBe("");
    const query = { owner: "o", sessionId: "s", recentLimit: 10, matchLimit: 0, minSimilarity: 1 };
    expect((await memory.load(query)).recentMessages).toMatchObject([{ role: "user", content: "Wipe it" }]);

    await world.approvals.decide(PERSON, approvalId, { decision: "approve" });
    await world.engine.settled({ owner: "o", sessionId: "s" });
    next([]);
    await runner.run(say("And now?"), { owner: "o" });
    expect((await memory.load(query)).recentMessages).toMatchObject([
      { role: "user", content: "Wipe it" },
      { role: "assistant", content: "Wiped." },
      { role: "user", content: "And now?" },
      {},
    ]);
    await world.close();
  });
});

describe("in a program that can ask no person", () => {
  const wipe = defineTool({
    name: "wipe",
    description: "Wipes.",
    argsSchema: z.object({}),
    destructiveHint: true,
    run: async () => "Wiped.",
  });
  const registry = new ToolRegistry();
  registry.register(wipe);
  const planner = () => [{ tool: "wipe", args: {} }];

  it("a tool that may destroy something is refused, and the reason says what to do", async () => {
    const response = await new McpLoopRunner({ registry, planner }).run(say("Wipe it"));
    expect(response).toMatchObject({
      success: false,
      data: { outcome: "failed", intermediateResults: [{ code: "approval_denied" }] },
      error: expect.stringContaining("policy") as string,
    });
  });

  it("a tool that may destroy something runs where the program's own policy allows it", async () => {
    const response = await new McpLoopRunner({ registry, planner, policy: allowAll }).run(say("Wipe it"));
    expect(response).toMatchObject({ success: true, data: { intermediateResults: [{ output: "Wiped." }] } });
  });
});

describe("a result over 64 KiB", () => {
  const rows = Array.from({ length: 3_000 }, (_, n) => ({ n, text: "some words of this row" }));
  const report = defineAction({
    id: "report",
    description: "Reports.",
    actionFn: async () => ({
      success: true,
      data: { rows },
      dataForDownstreamPrompt: {
        report: { dataSummary: "3,000 rows were reported.", structured: null, truncated: false },
      },
    }),
  });
  let seen: unknown;
  const count = defineAction({
    id: "count",
    description: "Counts.",
    argsSchema: z.object({ least: z.number() }),
    getDefaultArgs: ({ report: found }) => ({
      least: (found as { data?: typeof rows } | undefined)?.data === undefined ? 0 : 1,
    }),
    actionFn: async ({ args, context }) => {
      seen = context["report"];
      return { success: true, message: `${String(args.least)} at least.` };
    },
  });
  const plan = [{ tool: "report", args: {} }, { tool: "count", args: {} }, SUM];
  function world(deps: LoopDeps = {}) {
    const registry = new ToolRegistry();
    registry.register(report);
    registry.register(count);
    return new McpLoopRunner({ registry, planner: () => plan, ...deps });
  }

  it("is in the context of the tools that follow, and in their defaults", async () => {
    const response = await world().run(say("Report"));
    expect(seen).toMatchObject({
      data: { rows: expect.arrayContaining([{ n: 2_999, text: rows[0]?.text }]) as unknown },
    });
    expect(response.data?.intermediateResults?.[1]).toMatchObject({ input: { least: 1 } });
  });

  it("is told by its own summary, to the person and to the model", async () => {
    const response = await world().run(say("Report"));
    expect(response.data?.summaryMessage).toBe("3,000 rows were reported.\n1 at least.");
    const model = createScriptedModel(["Told."]);
    await world({ model }).run(say("Report"));
    const prompt = model.requests
      .at(-1)
      ?.messages.map(({ content }) => content)
      .join("\n");
    expect(prompt).toContain("3,000 rows were reported.");
    expect(prompt).not.toContain("$blob");
  });

  it("is whole in the answer and in the next program that opens the store and its blobs", async () => {
    const [store, blobs] = [createMemoryStateStore(), createMemoryBlobStore()];
    const first = await world({ store, blobs }).run(say("Report"));
    expect(first.data?.intermediateResults?.[0]?.output).toMatchObject({ data: { rows: { length: 3_000 } } });
    const later = await world({ store, blobs, planner: () => [{ tool: "count", args: { least: 2 } }] }).run(
      say("Count"),
    );
    expect(seen).toMatchObject({ data: { rows: { length: 3_000 } } });
    expect(later.data?.context?.["report"]).toMatchObject({ data: { rows: { length: 3_000 } } });
  });

  it("is not lost: a store that outlives the program is refused without blobs", () => {
    const { isVolatile: _no, ...store } = createMemoryStateStore();
    expect(() => world({ store })).toThrow(expect.objectContaining({ code: "input_invalid" }));
    expect(() => world({ store, blobs: createMemoryBlobStore() })).not.toThrow();
  });
});
