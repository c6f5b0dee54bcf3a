import type { Engine } from "../ports/engine.ts";
import type { Json } from "../schema/values/json.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import type { SessionCore } from "../schema/session.ts";

/** Spec 4's executor: both methods resolve when the session waits for a person or has ended. */
export type IPlanExecutor = {
  /** A string names a plan. */
  execute(sessionId: string, plan: AgenticPlan | string, input?: Json): Promise<SessionCore>;
  resume(sessionId: string, input?: Json): Promise<SessionCore>;
};

/** Spec 4's name for running a plan and waiting for it; the engine does the work. */
export class PlanExecutor implements IPlanExecutor {
  readonly #engine: Engine;
  readonly #owner: string;

  constructor(deps: { readonly engine: Engine; readonly owner: string }) {
    this.#engine = deps.engine;
    this.#owner = deps.owner;
  }

  async execute(sessionId: string, plan: AgenticPlan | string, input?: Json): Promise<SessionCore> {
    await this.#engine.executePlan({ owner: this.#owner, sessionId, plan, ...(input === undefined ? {} : { input }) });
    return this.#engine.settled({ owner: this.#owner, sessionId });
  }

  async resume(sessionId: string, input?: Json): Promise<SessionCore> {
    await this.#engine.resume({ owner: this.#owner, sessionId, ...(input === undefined ? {} : { input }) });
    return this.#engine.settled({ owner: this.#owner, sessionId });
  }
}
