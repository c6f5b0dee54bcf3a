import type { CreateSession, Engine, SessionView } from "../ports/engine.ts";
import type { Json } from "../schema/values/json.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import type { SessionCore } from "../schema/session.ts";
import type { IPlanExecutor } from "./plan-executor.ts";

/** Spec 4's manager of sessions: makes them, runs named or given plans in them, answers and cancels them. */
export type IWorkflowManager = {
  createSession(request?: Omit<CreateSession, "owner">): Promise<SessionCore>;
  /** A string names a plan. */
  run(sessionId: string, plan: AgenticPlan | string, input?: Json): Promise<SessionCore>;
  resume(sessionId: string, input?: Json): Promise<SessionCore>;
  cancel(sessionId: string): Promise<SessionCore>;
  getSession(sessionId: string): Promise<SessionView>;
};

export class WorkflowManager implements IWorkflowManager {
  readonly #engine: Engine;
  readonly #executor: IPlanExecutor;
  readonly #owner: string;

  constructor(deps: { readonly engine: Engine; readonly executor: IPlanExecutor; readonly owner: string }) {
    this.#engine = deps.engine;
    this.#executor = deps.executor;
    this.#owner = deps.owner;
  }

  createSession(request: Omit<CreateSession, "owner"> = {}): Promise<SessionCore> {
    return this.#engine.createSession({ ...request, owner: this.#owner });
  }

  run(sessionId: string, plan: AgenticPlan | string, input?: Json): Promise<SessionCore> {
    return this.#executor.execute(sessionId, plan, input);
  }

  resume(sessionId: string, input?: Json): Promise<SessionCore> {
    return this.#executor.resume(sessionId, input);
  }

  cancel(sessionId: string): Promise<SessionCore> {
    return this.#engine.cancel({ owner: this.#owner, sessionId });
  }

  getSession(sessionId: string): Promise<SessionView> {
    return this.#engine.readSession({ owner: this.#owner, sessionId });
  }
}
