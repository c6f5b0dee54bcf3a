/*
 * Writes the cursors that the real engine stores today to packages/core/testing/cursors/version-N.json, one for each form
 * that a step's state takes. Run it once for a new version of the cursor, and never change a file that is there: databases
 * hold such cursors.
 *
 *   node scripts/make-cursors.ts --version 3
 */
import { existsSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { ErgonError } from "../packages/core/src/errors/ergon-error.ts";
import { gateError } from "../packages/core/src/errors/gate.ts";
import { silentLogger } from "../packages/core/src/memory/logger.ts";
import { createMemoryStateStore } from "../packages/core/src/memory/state-store.ts";
import { cursorOf, type Cursor } from "../packages/core/src/plans/cursor.ts";
import { createEngine } from "../packages/core/src/plans/engine/engine.ts";
import type { SessionView } from "../packages/core/src/ports/engine.ts";
import type { SessionWrite, StateStore } from "../packages/core/src/ports/state-store.ts";
import type { AgenticPlan, PlanStep } from "../packages/core/src/schema/plan.ts";
import type { Json, JsonObject } from "../packages/core/src/schema/values/json.ts";
import type { ToolRun } from "../packages/core/src/tools/tool.ts";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../packages/core/testing/engine/engine-world.ts";
import { createSupervisedWorld } from "../packages/core/testing/supervisor/supervised-world.ts";
import { toldBy } from "../packages/core/testing/cursors/told-by.ts";

type Stored = { readonly plan: AgenticPlan; readonly cursor: Json; readonly told: readonly string[] };

const { values } = parseArgs({ options: { version: { type: "string" } } });
const file = new URL(`../packages/core/testing/cursors/version-${values.version ?? ""}.json`, import.meta.url);
if (values.version === undefined || existsSync(file)) throw new Error("Name a new version: --version 3");

const owner = "me";
const session = { owner, sessionId: "s" };
const stored: Stored[] = [];
const ask: PlanStep = { id: "ask", type: "human_in_the_loop", message: "Well?" };
for (const story of [calls, questions, approvals, unusableData, nested, unknownOutcome, corrections, proposals])
  await story();
writeFileSync(file, `${JSON.stringify(distinct(stored), null, 2)}\n`);

/** Keeps what the engine writes. */
function watched(store: StateStore): StateStore {
  const plans = new Map<string, AgenticPlan>();
  return {
    ...store,
    commit: async (source) => {
      const commit = typeof source === "function" ? source() : source;
      const receipt = await store.commit(commit);
      const { plan, session: written, sessionId } = commit;
      if (plan !== undefined) plans.set(sessionId, plan.plan);
      const ran = plans.get(sessionId);
      const cursor = written?.cursor ?? null;
      if (written !== undefined && ran !== undefined && cursor !== null)
        stored.push({ plan: ran, cursor: JSON.parse(JSON.stringify(cursor)), told: toldBy(ran, open(written)) });
      return receipt;
    },
  };
}

function open(written: SessionWrite): Cursor {
  const cursor = cursorOf(written);
  if (cursor === null) throw new Error("There is nothing to resume.");
  return cursor;
}

/** The first cursor that shows a state of a step in a form that no earlier one has. */
function distinct(all: readonly Stored[]): readonly Stored[] {
  const seen = new Set<string>();
  return all.filter(({ plan, cursor }) => {
    const types = new Map<string, string>();
    JSON.stringify(plan, (_, value: { id?: string; type?: string }) => {
      if (value?.id !== undefined && value.type !== undefined) types.set(value.id, value.type);
      return value;
    });
    const before = seen.size;
    for (const form of formsOf((cursor as { root: Frame }).root, types, "")) seen.add(form);
    return seen.size > before;
  });
}

type Frame = { readonly at: string; readonly state: JsonObject };

function formsOf({ at, state }: Frame, types: ReadonlyMap<string, string>, parent: string): string[] {
  const type = types.get(at) ?? "";
  const keys = Object.keys(state).filter((key) => key !== "kids");
  const inner = ["amendment", "asked", "correction", "error"].map((key) => Object.keys(state[key] ?? {}).join());
  const kids = Object.values((state["kids"] ?? {}) as Record<string, Frame>);
  const { accepted } = (state["correction"] ?? {}) as { accepted?: boolean };
  const form = JSON.stringify([
    parent,
    type,
    state["kind"],
    state["attempt"] === 0,
    kids.length > 1,
    keys.join(),
    ...inner,
    accepted,
  ]);
  return [form, ...kids.flatMap((kid) => formsOf(kid, types, type))];
}

async function inWorld(tools: Readonly<Record<string, Tool>>, steps: PlanStep[], then: Then, input: Json = {}) {
  const world = createEngineWorld({ store: watched(createMemoryStateStore()) });
  for (const [id, { run, ...more }] of Object.entries(tools)) {
    const definition = {
      id,
      description: "Is called.",
      parameters: { type: "object" },
      effects: "once",
      ...more,
    } as const;
    world.registry.register({ definition, implementation: async (_: unknown, given: ToolRun) => run(given) });
  }
  await world.engine.executePlan({ ...session, plan: planOf("p", steps), input, create: true });
  await then(world);
  await world.close();
}

type Tool = { readonly run: (given: ToolRun) => unknown; readonly destructiveHint?: true };
type Then = (world: EngineWorld) => Promise<unknown>;

async function calls(): Promise<void> {
  const busy = (): never => {
    throw new ErgonError("busy", "Try later.", { retryable: true });
  };
  const retried = { ...callStep("a", "t::busy"), retry: { maxAttempts: 2, backoffMs: 5 } } as PlanStep;
  await inWorld({ "t::busy": { run: busy } }, [retried], async ({ engine }) => {
    await engine.settled(session);
    await engine.resume({ ...session, input: { action: "retry", arguments: { n: 1 } } });
    await engine.settled(session);
  });
}

async function questions(): Promise<void> {
  const name = { key: "name", message: "Your name?", inputSchema: { type: "object" } };
  const run = ({ answers = [] }: ToolRun): unknown => {
    if (answers.length === 0) throw gateError("input_required", name.message, { details: name });
    throw gateError("outcome_unknown", "The line went dead.");
  };
  await inWorld({ "t::ask": { run } }, [callStep("a", "t::ask")], async ({ engine }) => {
    await engine.settled(session);
    await engine.resume({ ...session, input: { name: "Ada" } });
    await engine.settled(session);
    await engine.resume({ ...session, input: { action: "retry" } });
    await engine.settled(session);
  });
  await inWorld({}, [ask], ({ engine }) => engine.settled(session));
}

async function approvals(): Promise<void> {
  const tools = { "t::delete": { run: () => "gone", destructiveHint: true } } as const;
  const step = callStep("a", "t::delete", { path: { jsonPath: "$.promptInput.path" } });
  for (const decision of ["approve", "deny"] as const)
    await inWorld(
      tools,
      [step],
      async ({ engine, approvals: service }) => {
        await engine.settled(session);
        const [open] = (await service.list({ name: owner }, { limit: 1 })).items;
        await service.decide({ name: owner }, open?.id ?? "", { decision });
        await engine.settled(session);
      },
      { path: "/a" },
    );
}

/** A step of each kind that evaluates data, at a pointer that leads to nothing of use. */
async function unusableData(): Promise<void> {
  const text = { jsonPath: "$.promptInput.text" };
  const missing = { jsonPath: "$.promptInput.missing" };
  const condition = { left: text, operator: "greater_than", right: 1 } as const;
  const next = { nextStepId: "each" };
  const steps: PlanStep[] = [
    { id: "branch", type: "conditional_branch", condition, onTrue: next, onFalse: next },
    { id: "each", type: "loop_over_items", collectionPath: text, itemAlias: "x", loopPlan: [ask], nextStepId: "who" },
    { id: "who", type: "human_in_the_loop", message: "{{$.promptInput.missing}}?", nextStepIdOnInput: "give" },
    callStep("give", "probe::echo", { value: missing }, "end"),
    { id: "end", type: "final_response", message: missing },
  ];
  const skipAll: Then = async ({ engine }) => {
    for (const { id } of steps) {
      await engine.settled(session);
      await engine.resume({ ...session, step: id, input: { action: id === "end" ? "abort" : "skip" } });
    }
  };
  await inWorld({}, steps, skipAll, { text: "five" });
}

async function nested(): Promise<void> {
  const inner: PlanStep = {
    id: "both",
    type: "parallel_branch",
    branches: [
      { steps: [callStep("hold", "probe::hold")] },
      { steps: [ask] },
      { steps: [callStep("echo", "probe::echo")] },
    ],
  };
  const loop: PlanStep = {
    id: "each",
    type: "loop_over_items",
    collectionPath: { jsonPath: "$.promptInput.items" },
    itemAlias: "item",
    concurrency: 2,
    loopPlan: [{ ...callStep("first", "probe::echo"), nextStepId: "both" } as PlanStep, inner],
  };
  await inWorld(
    {},
    [{ ...loop, nextStepId: "last" }, callStep("last", "probe::echo")],
    async (world) => {
      await world.clock.sleep(50);
      world.release();
      for (const path of ["each[0]/both[1]/ask", "each[1]/both[1]/ask", "each[2]/both[1]/ask"]) {
        await world.engine.settled(session);
        await world.engine.resume({ ...session, step: path, input: path });
      }
      await world.engine.settled(session);
    },
    { items: [1, 2, 3] },
  );
}

async function unknownOutcome(): Promise<void> {
  const never = new Promise(() => undefined);
  await inWorld({ "t::once": { run: () => never } }, [callStep("a", "t::once")], async (world) => {
    await world.clock.sleep(50);
    await world.engine.close();
    const second = createEngine({ ...world, plans: { get: () => undefined, ids: () => [] }, logger: silentLogger });
    await second.recover();
    await second.settled(session);
    await second.close();
  });
}

async function corrections(): Promise<void> {
  const world = createSupervisedWorld({ through: watched });
  const run = (plan: AgenticPlan, input: Json = {}): Promise<SessionView> => world.run(plan, input);
  world.fails("test::flaky", 2);
  await run(planOf("p", [callStep("a", "test::flaky")]));
  await run(planOf("p", [callStep("a", "test::count", { n: { jsonPath: "$.promptInput.n" }, more: true })]), {
    n: "5",
  });
  world.fails("test::once", Infinity);
  await run(planOf("p", [{ ...callStep("a", "test::once"), alternatives: ["test::other"] } as PlanStep]));
  await run(planOf("p", [callStep("a", "test::once")]));
  await world.close();
}

async function proposals(): Promise<void> {
  const world = createSupervisedWorld({ through: watched, mode: "ask" });
  for (const action of ["accept", "refuse"]) {
    world.fails("test::flaky", 1);
    const { core } = await world.run(planOf("p", [callStep("a", "test::flaky")]));
    await world.engine.resume({ owner: world.owner, sessionId: core.sessionId, input: { action } });
    await world.settled(core.sessionId);
  }
  await world.close();
}
