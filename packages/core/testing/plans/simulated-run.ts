/**
 * Runs a plan on the real engine in a simulated world: calls end in random order, time jumps when nothing else moves, a
 * person answers every wait; if asked, the process dies around every commit, or the machine loses power now and then.
 * What the run comes to must depend on none of that.
 */
import { ErgonError, isErgonError } from "../../src/errors/ergon-error.ts";
import { createApprovalService } from "../../src/approvals/approval-service.ts";
import { createToolGrants } from "../../src/approvals/tool-grants.ts";
import { createMemoryApprovalStore } from "../../src/memory/approval-store.ts";
import { createMemoryBlobStore } from "../../src/memory/blob-store.ts";
import { createIds } from "../../src/memory/ids.ts";
import { silentLogger } from "../../src/memory/logger.ts";
import { createMemoryStateStore } from "../../src/memory/state-store.ts";
import { acknowledging } from "../../src/plans/engine/run/acknowledging.ts";
import { createEngine, type EmbeddedEngine } from "../../src/plans/engine/engine.ts";
import { placedWaits, type PlacedWait } from "../../src/plans/engine/waits/waits.ts";
import { cursorOf, type Cursor } from "../../src/plans/cursor.ts";
import { visitPath } from "../../src/plans/visits.ts";
import { indexPlan } from "../../src/plans/interpreter.ts";
import { decodePosition } from "../../src/plans/position.ts";
import type { Commit, SessionRecord } from "../../src/ports/state-store.ts";
import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";
import type { SessionView } from "../../src/ports/engine.ts";
import type { Effects } from "../../src/schema/tool.ts";
import { createToolGate, type ToolGate } from "../../src/tools/gate/gate.ts";
import { createJsonSchemas } from "../../src/tools/json-schema/json-schemas.ts";
import { allowAll, type ToolPolicy } from "../../src/tools/gate/policy.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";
import { createSimulatedClock } from "../simulated-clock.ts";
import { createChoice } from "./choice.ts";
import { createMortalStore, type Fate } from "./mortal-store.ts";
import { createFragileDisk } from "./fragile-disk.ts";
import type { CallAnswer, World } from "./world.ts";

export type Simulation = {
  readonly plan: AgenticPlan;
  /** Instead of running the plan, which has this call as its only step, the tool is called by itself. */
  readonly call?: { readonly toolId: string; readonly args: JsonObject };
  readonly input: Json;
  readonly initialContext?: JsonObject;
  readonly world: World;
  readonly seed: number;
  /**
   * `process`: dies around every commit, once before it is written, so that what was done is forgotten, and once right
   * after. `power`: after some commits, and then all that were not synced are forgotten. `drain`: it is asked to go now and
   * then, and lets calls under way end, all or some of them, but begins none.
   */
  readonly crashes: "none" | "process" | "power" | "drain";
  /** Every call that is not pure waits for a person's yes; the process may also die between the yes and the session. */
  readonly approvals?: boolean;
  /** The store takes commits when it likes to, so that runs are ahead of it. Such a world must answer by position alone. */
  readonly slowStore?: boolean;
  /** Afterwards fork it from every top-level step that it reached. */
  readonly forks?: boolean;
};

export type SimulatedRun = SessionView & {
  readonly crashes: number;
  /** How many commits had the ends of several calls. */
  readonly gathered: number;
  /** How many questions people were asked. */
  readonly questions: number;
  /** How often each call was made, by idempotency key. */
  readonly calls: ReadonlyMap<string, { readonly toolId: string; count: number }>;
  /** What the forks came to, by the step that they began with. */
  readonly forks: ReadonlyMap<string, SessionView>;
};

/** A world whose calls never fail and depend on where they are made alone: a run that is ahead of its store knows no more. */
export function byPosition(world: World): World {
  return {
    ...world,
    call: (question) => {
      const answer = world.call({ ...question, stepId: "", attempt: 1 });
      return "error" in answer ? { output: answer.error.message } : answer;
    },
  };
}

/** The test tools have the four classes of effects between them. */
export const TOOL_EFFECTS: Readonly<Record<string, Effects>> = {
  "test::a": "pure",
  "test::b": "read",
  "test::c": "idempotent",
  "test::d": "once",
};

/**
 * The world as the gate reports it: errors name their tool. Where the process dies, a `once` call that fails and one that
 * is forgotten would ask the person different things; so there these do not fail.
 */
export function asReported(world: World, { crashes }: { readonly crashes: boolean }): World {
  return {
    ...world,
    call: (question) => {
      const { toolId } = question;
      const answer = world.call(question);
      if (!("error" in answer)) return answer;
      if (crashes && TOOL_EFFECTS[toolId] === "once") return { output: answer.error.message };
      const reported = { ...answer.error, details: { toolId } };
      return { error: reported };
    },
  };
}

const OWNER = "simulation";
const SESSION = "ses-simulation";
const MAX_LIVES = 20_000;
/** One in so many answers is the last thing that its process does. */
const ANSWERS_PER_DEATH = 3;
const MAX_MOVES = 200_000;
/** One in so many moves is a slow store's, while calls are under way. */
const MOVES_PER_TAKE = 6;
/** One in so many commits is the last before the power goes; ever fewer, for what is never synced begins from afar. */
const COMMITS_PER_POWER_LOSS = 4;
/** Turns of the event loop after which everything has happened that needs nothing from outside. */
const QUIET_TURNS = { none: 1, process: 1, power: 4, drain: 4 } as const;
/** One in so many moves of a process is the one before it is asked to go; ever fewer. */
const MOVES_PER_DRAIN = 3;

export async function simulate(simulation: Simulation): Promise<SimulatedRun> {
  const { plan, world } = simulation;
  const choice = createChoice(`order ${String(simulation.seed)}`);
  const disk = createFragileDisk();
  let store = createMemoryStateStore();
  const clock = createSimulatedClock();
  const shared = { blobs: createMemoryBlobStore(), clock, logger: silentLogger };
  const calls = new Map<string, { readonly toolId: string; count: number }>();
  const indexed = indexPlan(plan);
  let under: Call[] = [];
  let toTake: (() => void)[] = [];
  let crashes = 0;
  let gathered = 0;
  const acknowledged = new Set<string>();
  const registry = worldTools((call) => {
    const seen = calls.get(call.key) ?? { toolId: call.toolId, count: 0 };
    seen.count++;
    calls.set(call.key, seen);
    under.push(call);
  });
  const gate = createToolGate({ registry, clock, logger: shared.logger, policy: policyOf(simulation) });
  const approvalStore = createMemoryApprovalStore();
  const desk = createApprovalService({ ...shared, store: approvalStore, grants: createToolGrants(), registry });
  await warm(gate);

  const { call } = simulation;
  const view = await drive(SESSION, async (engine, record) => {
    if (call !== undefined) return engine.callTool({ owner: OWNER, ...call });
    if (record !== undefined)
      return engine.executePlan({ owner: OWNER, sessionId: SESSION, plan, input: simulation.input });
    return engine.createSession({ owner: OWNER, sessionId: SESSION, context: simulation.initialContext ?? {} });
  });
  const forks = new Map<string, SessionView>();
  for (const { id } of simulation.forks === true ? plan.steps : []) {
    const fork = { owner: OWNER, sessionId: SESSION, fromStep: id, newSessionId: `fork-${id}`, repeatOnce: true };
    const forked = await drive(fork.newSessionId, (engine) => engine.fork(fork)).catch(orNotReached);
    if (forked !== undefined) forks.set(id, forked);
  }
  const { items } = await approvalStore.list({ limit: MAX_MOVES });
  return { ...view, crashes, gathered, questions: items.length, calls, forks };

  /** Runs one session to its end, through as many lives as it takes. */
  async function drive(sessionId: string, start: Start): Promise<SessionView> {
    for (let life = 0; life < MAX_LIVES; life++) {
      const found = await oneLife(sessionId, start);
      if (found !== undefined) return found;
    }
    throw new Error("The run does not come to an end.");
  }

  async function oneLife(sessionId: string, start: Start): Promise<SessionView | undefined> {
    under = [];
    toTake = [];
    let dead = false;
    if (simulation.crashes === "power") store = await disk.restart();
    const fateOf = (commit: Commit): Fate => {
      if ((commit.journal ?? []).filter(({ kind }) => kind !== "start").length > 1) gathered++;
      if (simulation.crashes === "none" || simulation.crashes === "drain") return "written";
      if (commit.session === undefined) return "written";
      if (simulation.crashes === "power" && choice.below(COMMITS_PER_POWER_LOSS + 2 * crashes) > 0) return "written";
      dead = true;
      return crashes++ % 2 === 0 && simulation.crashes === "process" ? "lost" : "written-and-dead";
    };
    const turn = (): Promise<void> =>
      new Promise((take) => {
        toTake.push(take);
      });
    const mortal = createMortalStore(store, fateOf, simulation.slowStore === true ? turn : undefined);
    const bare = createEngine({
      ...shared,
      store: mortal,
      registry,
      gate,
      ids: simulation.call === undefined ? createIds({ clock }) : { next: () => SESSION },
      plans: { get: () => undefined, ids: () => [] },
      approvals: desk,
    });
    const engine = acknowledging(bare, mortal);
    const die = (): void => {
      dead = true;
    };
    const found = await live(engine, { isDead: () => dead, die }, { sessionId, start });
    clock.forget();
    return found;
  }

  /** One life of the process: until it dies, or the run has ended. */
  async function live(
    engine: EmbeddedEngine,
    { isDead, die }: { readonly isDead: () => boolean; readonly die: () => void },
    { sessionId, start }: { readonly sessionId: string; readonly start: Start },
  ): Promise<SessionView | undefined> {
    let failure: { readonly thrown: unknown } | undefined;
    const fail = (thrown: unknown): void => {
      failure ??= { thrown };
    };
    let asked = 0;
    const ask = (work: Promise<unknown>): void => {
      asked++;
      void work.catch(fail).finally(() => asked--);
    };
    engine.recover().catch(fail);
    for (let move = 0; move < MAX_MOVES; move++) {
      for (let turn = 0; turn < QUIET_TURNS[simulation.crashes]; turn++) await quiet();
      if (isDead()) return undefined;
      if (failure !== undefined) throw failure.thrown;
      if (
        simulation.crashes === "drain" &&
        asked === 0 &&
        choice.below(MOVES_PER_DRAIN + Math.floor(crashes / 4)) === 0
      ) {
        crashes++;
        await go(engine, sessionId);
        return undefined;
      }
      if (toTake.length > 0 && (under.length === 0 || choice.below(MOVES_PER_TAKE) === 0)) {
        toTake.shift()?.();
        continue;
      }
      // The caller of a single call waits for what its tool answers.
      const mayEnd = simulation.slowStore === true || simulation.call !== undefined;
      if (asked > 0 && (!mayEnd || under.length === 0)) continue;
      const record = await store.readSession(sessionId);
      const cursor = record === undefined ? null : cursorOf(record);
      const next = under.splice(choice.below(Math.max(1, under.length)), 1)[0];
      if (next !== undefined) {
        next.end(await answerCall(next, cursor, sessionId));
      } else if (record === undefined || record.core.run === 0) {
        ask(start(engine, record));
      } else if (cursor === null) {
        return wholeSession(engine, sessionId);
      } else {
        const waits = placedWaits(indexed, cursor).filter(({ wait }) => wait.kind !== "time");
        const wait = waits[choice.below(Math.max(1, waits.length))];
        if (wait?.wait.approvalId !== undefined) ask(approve(engine, wait.wait.approvalId, die));
        else if (wait !== undefined) ask(answer(engine, sessionId, wait));
        else if (!clock.jump()) throw new Error(`The run is stuck: ${JSON.stringify(record)}`);
      }
    }
    throw new Error("The run makes no end of moves.");
  }

  /** Drains and closes the engine; calls under way may end before. */
  async function go(engine: EmbeddedEngine, sessionId: string): Promise<void> {
    const settle = async (): Promise<void> => {
      for (let turn = 0; turn < QUIET_TURNS.drain; turn++) await quiet();
    };
    const callsMade = (): number => [...calls.values()].reduce((sum, { count }) => sum + count, 0);
    const before = callsMade();
    engine.drain();
    for (let toEnd = choice.below(under.length + 1); toEnd > 0; toEnd--) {
      const record = await store.readSession(sessionId);
      const cursor = record === undefined ? null : cursorOf(record);
      const next = under.splice(choice.below(under.length), 1)[0];
      next?.end(await answerCall(next, cursor, sessionId));
      await settle();
    }
    await settle();
    if (callsMade() !== before) throw new Error("A call began while the engine drained.");
    if (under.length === 0 && engine.activeRuns() > 0) throw new Error("A run stays that has nothing under way.");
    const closed = engine.close();
    await settle();
    clock.jump();
    await closed;
    await settle();
  }

  async function approve(engine: EmbeddedEngine, approvalId: string, die: () => void): Promise<void> {
    if (acknowledged.has(approvalId))
      throw new Error(`The answer to ${approvalId} was acknowledged and then forgotten.`);
    const approval = await desk.decide({ name: "a person" }, approvalId, { decision: "approve" });
    const isMortal = simulation.crashes === "process" || simulation.crashes === "power";
    if (isMortal && choice.below(ANSWERS_PER_DEATH) === 0) {
      crashes++;
      return die();
    }
    await engine.settleApproval(approval);
    acknowledged.add(approvalId);
  }

  async function answer(engine: EmbeddedEngine, sessionId: string, placed: PlacedWait): Promise<void> {
    const key = `${sessionId} ${placed.position} ${placed.wait.kind}`;
    if (acknowledged.has(key)) throw new Error(`The answer at ${key} was acknowledged and then forgotten.`);
    const input = await answerWait(placed, sessionId);
    await engine.resume({ owner: OWNER, sessionId, step: placed.wait.path, input });
    acknowledged.add(key);
  }

  async function answerCall(call: Call, cursor: Cursor | null, sessionId: string): Promise<CallAnswer> {
    const position = call.key.slice(sessionId.length + 1);
    const frame = cursor === null ? undefined : visitPath(cursor, position).at(-1)?.frame;
    const attempt = frame?.state.kind === "call" ? frame.state.attempt : 1;
    return world.call({
      position: decodePosition(position),
      stepId: frame?.at ?? "",
      toolId: call.toolId,
      args: call.args,
      attempt,
    });
  }

  async function answerWait({ position, wait }: PlacedWait, sessionId: string): Promise<Json> {
    const place = { position: decodePosition(position), stepId: wait.stepId };
    if (wait.kind === "human") return world.answer(place);
    if (wait.error?.code !== "outcome_unknown") return world.decide(place);
    return { happened: await truth(sessionId, position, place) };
  }

  /** What the forgotten call came to, as a person would find out. */
  async function truth(
    sessionId: string,
    position: string,
    place: { readonly position: number[]; readonly stepId: string },
  ): Promise<Json> {
    const row = await store.readJournalRow(sessionId, position);
    const answer = world.call({ ...place, toolId: row?.toolId ?? "", args: row?.request as JsonObject, attempt: 1 });
    return "output" in answer ? answer.output : null;
  }
}

function policyOf({ approvals = false }: Simulation): ToolPolicy {
  if (!approvals) return allowAll;
  return ({ tool }) =>
    tool.effects === "pure"
      ? { kind: "allow" }
      : { kind: "needs_approval", reason: "It is not pure.", fingerprint: "f" };
}

type Start = (engine: EmbeddedEngine, record: SessionRecord | undefined) => Promise<unknown>;

function orNotReached(thrown: unknown): undefined {
  if (!isErgonError(thrown) || thrown.code !== "step_not_reached") throw thrown;
}

type Call = {
  readonly key: string;
  readonly toolId: string;
  readonly args: JsonObject;
  readonly end: (answer: CallAnswer) => void;
};

/** Compiled once for all runs. */
const schemas = createJsonSchemas();

function worldTools(called: (call: Call) => void): ToolRegistry {
  const registry = new ToolRegistry({ schemas });
  for (const [toolId, effects] of Object.entries(TOOL_EFFECTS)) {
    registry.register({
      definition: { id: toolId, description: "Asks the world.", parameters: { type: "object" }, effects },
      implementation: (args: JsonObject, run: { readonly idempotencyKey: string }) =>
        new Promise<Json>((resolve, reject) => {
          const end = (answer: CallAnswer): void => {
            if ("output" in answer) resolve(answer.output);
            else reject(new ErgonError(answer.error.code, answer.error.message, { retryable: answer.error.retryable }));
          };
          called({ key: run.idempotencyKey, toolId, args, end });
        }),
    });
  }
  return registry;
}

/** Loads what calls need, which takes real time, before simulated time begins. */
async function warm(gate: ToolGate): Promise<void> {
  const caller = { kind: "plan", owner: OWNER } as const;
  for (const toolId of Object.keys(TOOL_EFFECTS)) await gate.check({ toolId, args: {}, context: {}, caller });
}

/** Lets everything that needs no outside event happen. */
function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** With all of its history, however many pages that has. */
async function wholeSession(engine: EmbeddedEngine, sessionId: string): Promise<SessionView> {
  let { nextCursor, ...view } = await engine.readSession({ owner: OWNER, sessionId });
  while (nextCursor !== undefined) {
    const older = await engine.readSession({ owner: OWNER, sessionId, historyCursor: nextCursor });
    view = { ...view, history: [...older.history, ...view.history] };
    ({ nextCursor } = older);
  }
  return view;
}
