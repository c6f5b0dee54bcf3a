import type { CalledTool, Engine, ExecutePlan, NewRun } from "../../ports/engine.ts";
import type { SessionCore } from "../../schema/session.ts";
import type { Corrections } from "./corrections.ts";
import type { CallHere, StartRun } from "./engine-deps.ts";
import type { CallUnderWay, TakeUp } from "./run/run-pool.ts";
import type { SettleApproval } from "./waits/approval-answers.ts";

/** The engine of this process, with what its owner does with it beside the port. */
export type EmbeddedEngine = Omit<Engine, "executePlan" | "startRun" | "callTool"> & {
  startRun(request: NewRun & Omit<StartRun, keyof ExecutePlan>): Promise<SessionCore>;
  executePlan(request: StartRun): Promise<SessionCore>;
  callTool(request: CallHere): Promise<CalledTool>;
  /** Takes up every unfinished session, or those that it is told; resolves when all of them have been. */
  readonly recover: (which?: TakeUp) => Promise<{ readonly takenUp: number }>;
  /**
   * Runs begin no further step, unless a caller awaits them here; a call whose intent is on its way to the store is made.
   * What is asked of the engine from now on it still does: those who use it are told to end after this, and before `close`.
   */
  readonly drain: () => void;
  /** Resolves when the calls under way have ended whose outcome would otherwise be unknown. */
  readonly onceCallsDone: () => Promise<void>;
  /** Begins nothing new, lets calls under way end within `graceMs`, leaves the rest for the next start. */
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
  readonly activeRuns: () => number;
  /** Calls that were allowed and have not ended. */
  readonly underWay: () => readonly CallUnderWay[];
  /** What the supervisor works with. */
  readonly corrections: Corrections;
  readonly settleApproval: SettleApproval;
};
