// The code of the five documents as they write it, against this package. Their relative imports are this package's own;
// `any` is `unknown`, and a value that the document leaves open is named above each block.
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type ActionRequest,
  createSystemClock,
  type MCPRequest,
  type PlannedAction,
  runMcpLoop,
  type SessionStatus,
  ToolRegistry,
} from "../src/index.ts";
import {
  ActionV2Registry,
  createSpecStateStore,
  EnergyRegulator,
  generateEmbedding,
  getConversationContext,
  invokeChatModel,
  type IStateStore,
  LoopError,
  LoopValidationError,
  type MCPActionV2,
  PlanExecutor,
  setSpecDefaults,
} from "../src/spec.ts";
import type { ActionResult, HistoryEntry } from "../src/schema.ts";
import {
  createConversationMemory,
  createMemoryBlobStore,
  createMemoryStateStore,
  createLoopIds,
  createMemoryLoopStore,
} from "../src/store-kit.ts";
import { DEFAULT_LOOP_BOUNDS, createRefinementLoops, isStagnant, type ToolMetadata } from "../src/engine.ts";
import { createEngineWorld } from "./engine/engine-world.ts";
import { createScriptedModel } from "./scripted-model.ts";

afterEach(() => {
  for (const { id } of ToolRegistry.list()) ToolRegistry.unregister(id);
  setSpecDefaults({});
});

const request: MCPRequest = {
  mode: "hiring",
  sessionId: "s1",
  messages: [{ role: "user", content: "What is Ada missing?" }],
};

/** Document 1's mocks. */
function registerMocks(): void {
  ToolRegistry.register({
    name: "getCapabilityGaps",
    description: "mocked gap",
    argsSchema: z.object({ profileId: z.string(), roleId: z.string() }),
    run: async ({ args }) => ({ matched: [], missing: ["foo"], summary: `${args.profileId} lacks foo` }),
  });
  ToolRegistry.register({
    name: "mock_tool_a",
    description: "Mock A",
    argsSchema: z.object({ foo: z.string() }),
    run: async ({ args }) => `ran A with ${args.foo}`,
  });
}

describe("spec 1", () => {
  it("spec 1: its four steps run as they are written, with an injected model and a memory", async () => {
    registerMocks();
    const planned = [
      { tool: "getCapabilityGaps", args: { profileId: "ada", roleId: "dev" } },
      { tool: "finalize_summary", args: {} },
    ];
    const model = createScriptedModel([JSON.stringify(planned), "Ada lacks foo."]);
    setSpecDefaults({ model });
    const { messages } = request;
    const supabaseClient = createConversationMemory();

    // Step 1
    const latestMessage = messages[messages.length - 1]?.content;
    if (!latestMessage) throw new Error("No message content provided");

    const embeddedMessage = await generateEmbedding(latestMessage);

    const { recentMessages, semanticMatches } = await getConversationContext(
      supabaseClient,
      request.sessionId,
      embeddedMessage,
    );

    const context: Record<string, unknown> = {
      embeddedMessage,
      recentMessages,
      semanticMatches,
      sessionId: request.sessionId,
      mode: request.mode,
      ...request.context,
    };

    // Step 2
    const tools: ToolMetadata[] = ActionV2Registry.getToolMetadataList();
    const plannerPrompt = `You are a structured planning agent.
${JSON.stringify(context, null, 2)}

${ActionV2Registry.buildPlannerPromptWithPathways()}`;

    const planResponse = await invokeChatModel({
      prompt: {
        system: "You are a planning agent.",
        user: plannerPrompt,
      },
      options: {
        model: "gpt-4o",
        temperature: 0.3,
        max_tokens: 1000,
      },
    });

    const plan = JSON.parse(planResponse.text) as PlannedAction[];

    for (const step of plan) {
      if (!ActionV2Registry.has(step.tool)) {
        throw new Error(`Planner returned unknown tool: ${step.tool}`);
      }
    }

    // Step 3
    const intermediateResults: ActionResult[] = [];

    for (const step of plan) {
      const tool = ActionV2Registry.get(step.tool);
      if (!tool) throw new Error(`Tool not found: ${step.tool}`);

      const validation = tool.argsSchema?.safeParse(step.args);
      if (validation && !validation.success) {
        throw new Error(`Invalid args for ${step.tool}: ${JSON.stringify(validation.error.issues)}`);
      }

      const result = await tool.actionFn({ ...context, ...step.args });

      context[step.tool] = result;
      intermediateResults.push({
        tool: step.tool,
        input: step.args,
        output: result as ActionResult["output"],
        success: true,
      });
    }

    // Step 4
    let summaryMessage: string | undefined = undefined;

    if (plan.some((p) => p.tool === "finalize_summary")) {
      const finalTool = ToolRegistry.get("finalize_summary");
      summaryMessage = await finalTool.run({ context, args: {} });
    }

    expect(tools.map(({ name }) => name)).toEqual(["getCapabilityGaps", "mock_tool_a"]);
    expect(intermediateResults).toMatchObject([
      { tool: "getCapabilityGaps", output: { missing: ["foo"] } },
      { tool: "finalize_summary", output: "Ada lacks foo." },
    ]);
    expect(summaryMessage).toBe("Ada lacks foo.");
    setSpecDefaults({});
    expect(await ToolRegistry.get("finalize_summary").run({ context, args: {} })).toBe("ada lacks foo");
    expect(model.requests[0]).toMatchObject({ temperature: 0.3, maxOutputTokens: 1000 });
  });

  it("spec 1: a tool's metadata has the four fields, and its run works for tools of every form", async () => {
    registerMocks();
    ToolRegistry.register({
      definition: {
        id: "demo::twice",
        description: "Doubles.",
        parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
      },
      implementation: async ({ n }: { readonly n: number }) => n * 2,
    });
    const [twice, , mockA] = ActionV2Registry.getToolMetadataList();
    expect(twice?.argsSchema.safeParse({ n: "x" }).success).toBe(false);
    expect(twice?.argsSchema.safeParse({ n: 4 }).success).toBe(true);
    expect(await twice?.run({ context: {}, args: { n: 4 } })).toBe(8);
    expect(await mockA?.run({ context: {}, args: { foo: "bar" } })).toBe("ran A with bar");
    await expect(mockA?.run({ context: {}, args: { invalidKey: 123 } })).rejects.toMatchObject({
      code: "args_invalid",
    });
    expect(
      await ToolRegistry.get("mock_tool_a")?.run({ context: {}, args: { foo: "y".repeat(100_000) } }),
    ).toHaveLength(100_011);
  });

  it("spec 1: the tools of the list go back into a request as availableTools", async () => {
    registerMocks();
    const availableTools = ActionV2Registry.getToolMetadataList().filter(({ name }) => name === "mock_tool_a");
    const planner = () => [
      { tool: "mock_tool_a", args: { foo: "bar" } },
      { tool: "getCapabilityGaps", args: { profileId: "a", roleId: "b" } },
    ];
    const { data } = await runMcpLoop({ ...request, availableTools }, { planner });
    expect(data?.context).toMatchObject({ mock_tool_a: "ran A with bar" });
    expect(data?.intermediateResults).toMatchObject([{ success: true }, { tool: "getCapabilityGaps", success: false }]);
  });

  it("spec 1: a model that is not set is said, with what to do", async () => {
    await expect(invokeChatModel({ prompt: { user: "hello" } })).rejects.toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("setSpecDefaults") as string,
    });
  });
});

describe("spec 2", () => {
  // In action definition
  const action: MCPActionV2 = {
    id: "searchMatches",
    title: "Search",
    description: "Finds matches.",
    applicableRoles: [],
    capabilityTags: ["search"],
    tags: [],
    suggestedPrerequisites: [],
    suggestedPostrequisites: [],
    usesAI: false,
    argsSchema: z.object({
      queryText: z.string().min(1, "Query text cannot be empty").describe("The text to search for matches"),
      limit: z.number().positive().optional().describe("Maximum number of results to return"),
    }),
    getDefaultArgs: (context) => ({
      queryText: context["lastMessage"] || "",
      limit: 10,
    }),
    actionFn: async (given: ActionRequest) => {
      const { supabase, sessionId } = given;
      const { userId } = given.context;
      const { queryText, limit } = given.args;
      return {
        success: true,
        data: { supabase: supabase === "client", sessionId: sessionId ?? "", userId, queryText, limit },
      };
    },
  } as MCPActionV2;

  it("spec 2: the actions array is derived from what is registered, and its entries are called as actions", async () => {
    expect(ActionV2Registry.actions).toEqual([]);
    ToolRegistry.register({
      ...action,
      requiredContext: ["sessionId"], // Shared context requirements
      requiredArgs: ["queryText"], // Action-specific requirements
    });
    registerMocks();
    const { actions } = ActionV2Registry;
    expect(actions).toMatchObject([
      {
        id: "searchMatches",
        title: "Search",
        capabilityTags: ["search"],
        requiredContext: ["sessionId"],
        usesAI: false,
      },
    ]);
    const answer = await actions[0]?.actionFn({
      args: { limit: 3 },
      context: { sessionId: "s1", userId: "u", lastMessage: "ada" },
      supabase: "client",
      sessionId: "s1",
    });
    expect(answer).toMatchObject({
      success: true,
      data: { supabase: true, sessionId: "s1", userId: "u", queryText: "ada", limit: 3 },
    });
    await expect(actions[0]?.actionFn({ args: {}, context: {} })).rejects.toMatchObject({ code: "context_missing" });
  });
});

describe("spec 3", () => {
  const loops = () =>
    createRefinementLoops({
      store: createMemoryLoopStore({ keepPerOwner: 10 }),
      clock: createSystemClock(),
      newId: createLoopIds(),
      bounds: DEFAULT_LOOP_BOUNDS,
    });

  it("spec 3: test_complete_workflow", async () => {
    const mcp = loops();
    const loop = await mcp.initialize({ owner: "ctx", loop_type: "spec" });
    expect(loop.status).toBe("initialized");
    expect(loop.id).toHaveLength(8);
    expect((await mcp.decide({ owner: "ctx", loop_id: loop.id, current_score: 70 })).status).toBe("refine");
    expect((await mcp.decide({ owner: "ctx", loop_id: loop.id, current_score: 90 })).status).toBe("completed");
  });

  it("spec 3: test_stagnation_detection", () => {
    expect(isStagnant([50, 65, 70])).toBe(false);
    expect(isStagnant([50, 65, 70, 73, 75])).toBe(true);
  });

  it("spec 3: errors are children of LoopError", async () => {
    const invalid = await loops()
      .initialize({ owner: "ctx", loop_type: "nope" })
      .catch((thrown: unknown) => thrown);
    expect(invalid).toBeInstanceOf(LoopValidationError);
    expect(invalid).toBeInstanceOf(LoopError);
  });
});

describe("spec 4", () => {
  /** Its own interfaces, as it writes them. */
  interface SessionCore {
    sessionId: string;
    status: "running" | "paused" | "completed" | "failed" | "paused_on_error" | "paused_on_human";
    createdAt: string;
    updatedAt: string;
    currentPlanId?: string;
    currentStepId?: string;
    lastError?: unknown;
  }

  it("spec 4: the store takes the document's SessionCore, every method as it is written", async () => {
    const store: IStateStore = createSpecStateStore({
      store: createMemoryStateStore(),
      blobs: createMemoryBlobStore(),
      clock: createSystemClock(),
      owner: "me",
    });
    const core: SessionCore = {
      sessionId: "s1",
      status: "paused_on_error",
      createdAt: "2026-01-01T00:00:00.000Z",
      updatedAt: "2026-01-01T00:00:00.000Z",
      lastError: "the disk is full",
    };
    await store.createSession(core);
    const read: SessionCore | null = (await store.readSessionCore("s1")) as SessionCore | null;
    expect(read).toMatchObject({
      ...core,
      lastError: { message: expect.stringContaining("the disk is full") as string },
    });
    await store.updateSessionStatus("s1", "failed" satisfies SessionStatus, new Error("no"));
    await store.appendToHistory("s1", { timestamp: core.createdAt, toolId: "t", request: {}, result: { a: 1 } });
    await store.updateContext("s1", { a: 1 });
    await store.updateContext("s1", { b: 2 });
    expect(await store.getContext("s1")).toEqual({ a: 1, b: 2 });
    expect(await store.readSessionCore("none")).toBeNull();
  });

  it("spec 4: what is no session is refused in words, with a code", async () => {
    const store = createSpecStateStore({
      store: createMemoryStateStore(),
      blobs: createMemoryBlobStore(),
      clock: createSystemClock(),
      owner: "me",
    });
    const bad = { sessionId: "s1", status: "sleeping", createdAt: "x", updatedAt: "x" } as unknown as SessionCore;
    await expect(store.createSession(bad)).rejects.toMatchObject({
      code: "commit_invalid",
      message: expect.stringContaining("status") as string,
    });
  });

  it("spec 4: the executor runs a plan whose pointers are the document's", async () => {
    const world = createEngineWorld();
    const executor = new PlanExecutor({ engine: world.engine, owner: "me" });
    const { sessionId } = await world.engine.createSession({ owner: "me" });
    const core = await executor.execute(
      sessionId,
      {
        planId: "pointers",
        description: "Follows the three kinds of pointers.",
        parameters: { type: "object", properties: { someParam: { type: "number" } } },
        startStepId: "step1",
        steps: [
          {
            id: "step1",
            type: "tool_call",
            toolId: "probe::echo",
            arguments: { value: { jsonPath: "$.promptInput.someParam" } },
            nextStepId: "step2",
          },
          {
            id: "step2",
            type: "tool_call",
            toolId: "probe::echo",
            arguments: { value: { jsonPath: "$.history[0].result.output" } },
            saveAs: "someKey",
            nextStepId: "end",
          },
          {
            id: "end",
            type: "final_response",
            message: { jsonPath: '$.history[?(@.planStepId=="step1")].result.output', first: true },
          },
        ],
      },
      { someParam: 7 },
    );
    expect(core.status).toBe("completed");
    const { context, history } = await world.engine.readSession({ owner: "me", sessionId });
    expect(context).toMatchObject({ someKey: 7, finalResponse: 7 });
    const [entry]: readonly HistoryEntry[] = history;
    expect(entry).toMatchObject({ toolId: "probe::echo", result: { output: 7 }, planStepId: "step1" });
    await world.close();
  });
});

describe("spec 5", () => {
  it("spec 5: the loop deducts what the sub-agent has spent", () => {
    const energyRegulator = new EnergyRegulator({ clock: createSystemClock(), level: 12 });
    const subAgentInterface = { hasActiveWork: () => true, getSubAgentEnergyConsumption: () => 5 };

    if (subAgentInterface.hasActiveWork()) {
      const energyConsumed = subAgentInterface.getSubAgentEnergyConsumption();
      if (energyConsumed > 0) {
        energyRegulator.consumeEnergy(energyConsumed);
      }
    }
    expect(energyRegulator.getEnergy()).toBeLessThan(10);
  });
});
