import type { ApprovalQuestions } from "../../ports/approval-questions.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CallTool, ExecutePlan } from "../../ports/engine.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Logger } from "../../ports/logger.ts";
import type { StateStore } from "../../ports/state-store.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import type { Mode } from "../../schema/session.ts";
import type { ToolGate } from "../../tools/gate/gate.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import type { Infrastructure } from "../../tools/tool.ts";

/** The same list for as long as nothing has changed. */
export type ToolSource = Pick<ToolRegistry, "get" | "list">;

/** What an engine is made of. */
export type EngineDeps = {
  readonly store: StateStore;
  readonly blobs: BlobStore;
  readonly gate: ToolGate;
  readonly registry: ToolSource;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Handed to tools that take it (spec 2); never part of their arguments. */
  readonly infrastructure?: Omit<Infrastructure, "sessionId">;
  /** Where people are asked about calls; without it, a call that needs a person's yes is refused. */
  readonly approvals?: ApprovalQuestions;
  /** A supervisor sees to failed steps: a person is needed only when it says so. */
  readonly supervised?: boolean;
  /** `ERGON_FSYNC=always`. */
  readonly fsyncEveryStep?: boolean;
};

/** What a caller in this process may say of a run beside its plan. */
export type StartRun = ExecutePlan & {
  /** The audience from now on; the session's own when absent. */
  readonly mode?: Mode;
  /** The conversation that the session works for from now on; its own when absent. */
  readonly conversationId?: string;
  /** Put into the session's context in the commit that starts the run. */
  readonly context?: JsonObject;
  /** Whoever starts it waits here for its end: it goes on while the engine drains. */
  readonly isAwaited?: boolean;
  /** Gives each of the run's tools the model through which it asks. Forgotten when the run leaves memory to wait. */
  readonly watchModel?: WatchModel;
};

/** What a caller in this process may say of a single call beside its arguments. */
export type CallHere = CallTool & {
  /** Until it aborts, a person's answer is waited for; absent: not at all. */
  readonly patience?: AbortSignal | undefined;
  /** Names the call: sent again under the same name, it is answered with what became of it. */
  readonly startId?: string | undefined;
};

export type WatchModel = (model: ChatModel, toolId: string) => ChatModel;

/** The plans that can be run by name. A plan is one object for as long as it stays as it is, and nobody changes it. */
export type PlanLookup = {
  readonly get: (planId: string) => AgenticPlan | undefined;
  readonly ids: () => readonly string[];
};
