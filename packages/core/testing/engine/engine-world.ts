import { type ApprovalService, createApprovalService } from "../../src/approvals/approval-service.ts";
import { createToolGrants } from "../../src/approvals/tool-grants.ts";
import { createToolPolicy } from "../../src/approvals/tool-policy.ts";
import { createMemoryApprovalStore } from "../../src/memory/approval-store.ts";
import { createMemoryBlobStore } from "../../src/memory/blob-store.ts";
import { createSystemClock } from "../../src/memory/clock.ts";
import { createIds } from "../../src/memory/ids.ts";
import { silentLogger } from "../../src/memory/logger.ts";
import { createMemoryStateStore } from "../../src/memory/state-store.ts";
import { createEngine, type EmbeddedEngine } from "../../src/plans/engine/engine.ts";
import type { BlobStore } from "../../src/ports/blob-store.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { Engine } from "../../src/ports/engine.ts";
import type { Ids } from "../../src/ports/ids.ts";
import type { StateStore } from "../../src/ports/state-store.ts";
import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { AgenticPlan, PlanStep } from "../../src/schema/plan.ts";
import type { Effects } from "../../src/schema/tool.ts";
import { createToolGate, type ToolGate } from "../../src/tools/gate/gate.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";

/** A real embedded engine on a memory store, with tools that tests can hold and let go. */
export type EngineWorld = {
  readonly engine: EmbeddedEngine;
  readonly store: StateStore;
  readonly blobs: BlobStore;
  readonly gate: ToolGate;
  readonly registry: ToolRegistry;
  readonly plans: readonly AgenticPlan[];
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where calls of tools wait that say that they may destroy something. */
  readonly approvals: ApprovalService;
  /** Lets every held call of `probe::hold` end, and those to come. */
  readonly release: () => void;
  readonly close: () => Promise<void>;
};

/** Gives an engine that works through the engine of a fresh world: that very one, or another form of it. */
export type OpenWorld = () => Promise<{ readonly engine: Engine; readonly world: EngineWorld }>;

export type EngineWorldOptions = { readonly store?: StateStore; readonly blobs?: BlobStore };

export function createEngineWorld({
  store = createMemoryStateStore(),
  blobs = createMemoryBlobStore(),
}: EngineWorldOptions = {}): EngineWorld {
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const logger = silentLogger;
  const registry = new ToolRegistry();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  registerProbes(registry, released);
  const grants = createToolGrants();
  const approvals = createApprovalService({ store: createMemoryApprovalStore(), grants, registry, clock, logger });
  const settings = { server: () => undefined, rules: () => [], approvalRequired: () => true };
  const gate = createToolGate({ registry, clock, logger, policy: createToolPolicy({ grants, settings, clock }) });
  const plans = {
    get: (planId: string): AgenticPlan | undefined => PLANS.find((plan) => plan.planId === planId),
    ids: () => PLANS.map(({ planId }) => planId),
  };
  const engine = createEngine({ store, blobs, gate, registry, clock, ids, logger, plans, approvals });
  approvals.start(engine.settleApproval);
  const close = async (): Promise<void> => {
    release();
    approvals.stop();
    await engine.close({ graceMs: 100 });
    await store.close();
    await blobs.close();
  };
  return { engine, store, blobs, gate, registry, plans: PLANS, clock, ids, approvals, release, close };
}

function registerProbes(registry: ToolRegistry, released: Promise<void>): void {
  const add = (
    id: string,
    implementation: (args: JsonObject, run: { readonly signal: AbortSignal }) => unknown,
    effects: Effects = "idempotent",
  ): void => {
    const definition = {
      id,
      description: `Probes engines (${id}).`,
      parameters: { type: "object" },
      effects,
    };
    registry.register({ definition, implementation } as Parameters<typeof registry.register>[0]);
  };
  add("probe::echo", (args) => args["value"] ?? null);
  add("probe::pay", (args) => args["value"] ?? null, "once");
  add("probe::fail", (args) => {
    if (args["value"] !== undefined) return args["value"];
    throw new Error("told to fail");
  });
  add("probe::large", (args) => "x".repeat(Number(args["characters"] ?? 0)));
  add("probe::hold", async (args, { signal }) => {
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => aborted.reject(new Error("stopped")));
    await Promise.race([released, aborted.promise]);
    return args["value"] ?? "let go";
  });
}

export function planOf(
  planId: string,
  steps: readonly PlanStep[],
  parameters: JsonObject = { type: "object" },
): AgenticPlan {
  return { planId, description: planId, parameters, startStepId: steps[0]?.id ?? "", steps: [...steps] };
}

export function callStep(
  id: string,
  toolId: string,
  args: Readonly<Record<string, Json>> = {},
  nextStepId?: string,
): PlanStep {
  const next = nextStepId === undefined ? {} : { nextStepId };
  return { id, type: "tool_call", toolId, arguments: args, ...next };
}

const say = { id: "say", type: "final_response", message: { jsonPath: "$.context['probe::echo_result']" } } as const;
const askFor = (id: string): PlanStep => ({
  id,
  type: "human_in_the_loop",
  message: `What is ${id}?`,
  inputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"], additionalProperties: false },
});

const PLANS: readonly AgenticPlan[] = [
  planOf("echo", [callStep("call", "probe::echo", { value: { jsonPath: "$.promptInput.text" } }, "say"), say], {
    type: "object",
    properties: { text: { type: "string" } },
    required: ["text"],
  }),
  planOf("hold", [callStep("call", "probe::hold")]),
  planOf("fail", [callStep("call", "probe::fail")]),
  planOf("large", [callStep("call", "probe::large", { characters: 70_000 })]),
  planOf("many", [
    {
      id: "each",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.items" },
      itemAlias: "item",
      loopPlan: [callStep("call", "probe::echo", { value: { jsonPath: "$.context.item" } })],
    },
  ]),
  planOf("ask", [askFor("one")]),
  planOf("ask-twice", [
    { id: "both", type: "parallel_branch", branches: [{ steps: [askFor("one")] }, { steps: [askFor("two")] }] },
  ]),
];
