import { ErgonError } from "../../src/errors/ergon-error.ts";
import { createMemoryBlobStore } from "../../src/memory/blob-store.ts";
import { createIds } from "../../src/memory/ids.ts";
import { silentLogger } from "../../src/memory/logger.ts";
import { createMemoryStateStore } from "../../src/memory/state-store.ts";
import { createEngine, type EmbeddedEngine } from "../../src/plans/engine/engine.ts";
import { createSupervisor, type Supervisor, type SupervisorDeps } from "../../src/plans/supervisor/supervisor.ts";
import type { SessionView } from "../../src/ports/engine.ts";
import type { StateStore } from "../../src/ports/state-store.ts";
import type { Json, JsonObject, JsonSchema } from "../../src/schema/values/json.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";
import type { Effects } from "../../src/schema/tool.ts";
import { createToolGate } from "../../src/tools/gate/gate.ts";
import { ToolRegistry } from "../../src/tools/registry.ts";
import { createHastyClock } from "./hasty-clock.ts";

type Called = { readonly toolId: string; readonly key: string; readonly args: JsonObject };

/** A real engine with a real supervisor, and tools that fail as often as they are told to. */
export type SupervisedWorld = {
  readonly owner: string;
  readonly engine: EmbeddedEngine;
  readonly supervisor: Supervisor;
  readonly store: StateStore;
  readonly registry: ToolRegistry;
  readonly calls: readonly Called[];
  readonly fails: (toolId: string, times: number) => void;
  /** How often `test::mail` took effect. */
  readonly sent: () => number;
  /** The next call takes effect, and nobody hears of it. */
  readonly losesOutcome: (toolId: string) => void;
  /** Runs a plan until the session has settled. */
  readonly run: (plan: AgenticPlan, input?: Json) => Promise<SessionView>;
  readonly settled: (sessionId: string) => Promise<SessionView>;
  /** Another process on the same store: what this one had begun is left where it was. */
  readonly restart: (options?: SupervisedOptions) => SupervisedWorld;
  readonly close: () => Promise<void>;
};

export type SupervisedOptions = Partial<Pick<SupervisorDeps, "mode" | "sessionBudget" | "repairer" | "logger">> & {
  /** What stands between the engine and its memory. */
  readonly through?: (store: StateStore) => StateStore;
  /** False: nobody starts the supervisor. */
  readonly supervises?: boolean;
};

const OWNER = "me";
const COUNT: JsonSchema = {
  type: "object",
  properties: { n: { type: "integer" }, more: { type: "boolean" }, unit: { type: "string", default: "m" } },
  required: ["n"],
  additionalProperties: false,
};

export function createSupervisedWorld(options: SupervisedOptions = {}): SupervisedWorld {
  const memory = { store: createMemoryStateStore(), blobs: createMemoryBlobStore() };
  return open({ ...memory, calls: [], sent: { count: 0 }, failures: new Map() }, options);
}

type Kept = {
  readonly store: StateStore;
  readonly blobs: ReturnType<typeof createMemoryBlobStore>;
  readonly calls: Called[];
  readonly sent: { count: number };
  readonly failures: Map<string, number | "lost">;
};

function open(kept: Kept, options: SupervisedOptions): SupervisedWorld {
  const { through = (store) => store, supervises = true, logger = silentLogger, ...choices } = options;
  const store = through(kept.store);
  const clock = createHastyClock();
  const registry = new ToolRegistry();
  registerTools(registry, kept);
  const gate = createToolGate({ registry, clock, logger });
  const shared = { store, registry, clock, logger };
  const plans = { get: () => undefined, ids: () => [] };
  const engine = createEngine({
    ...shared,
    blobs: kept.blobs,
    gate,
    ids: createIds({ clock }),
    plans,
    supervised: true,
  });
  const supervisor = createSupervisor({ ...shared, engine, ...choices });
  if (supervises) supervisor.start();
  let sessions = 0;
  const settled = async (sessionId: string): Promise<SessionView> => {
    await engine.settled({ owner: OWNER, sessionId });
    return engine.readSession({ owner: OWNER, sessionId });
  };
  return {
    owner: OWNER,
    engine,
    supervisor,
    store: kept.store,
    registry,
    calls: kept.calls,
    fails: (toolId, times) => kept.failures.set(toolId, times),
    sent: () => kept.sent.count,
    losesOutcome: (toolId) => kept.failures.set(toolId, "lost"),
    run: async (plan, input = {}) => {
      const sessionId = `ses_${String(sessions++)}`;
      await engine.executePlan({ owner: OWNER, sessionId, plan, input, create: true });
      return settled(sessionId);
    },
    settled,
    restart: (again = {}) => open(kept, again),
    close: async () => {
      await supervisor.stop({ graceMs: 1_000 });
      await engine.close();
    },
  };
}

function registerTools(registry: ToolRegistry, { calls, failures, sent }: Kept): void {
  const add = (id: string, effects: Effects, parameters: JsonSchema = { type: "object" }): void => {
    registry.register({
      definition: { id, description: `Tests the supervisor (${id}).`, parameters, effects },
      implementation: (args: JsonObject, run: { readonly idempotencyKey: string }): Promise<Json> => {
        calls.push({ toolId: id, key: run.idempotencyKey, args });
        const left = failures.get(id) ?? 0;
        if (left === "lost") return Promise.reject(new ErgonError("outcome_unknown", "The line went dead."));
        if (left === 0) {
          if (id === "test::mail") sent.count++;
          return Promise.resolve(id === "test::count" ? args : `${id} ok`);
        }
        failures.set(id, left - 1);
        // It says itself that nothing was sent.
        if (id === "test::mail") return Promise.reject(new ErgonError("line_busy", "Try later.", { retryable: true }));
        return Promise.reject(new Error(`${id} is out of order`));
      },
    });
  };
  add("test::flaky", "idempotent");
  add("test::once", "once");
  add("test::other", "once");
  add("test::mail", "once");
  add("test::count", "pure", COUNT);
}
