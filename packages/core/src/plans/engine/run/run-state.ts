import type { ContextWrite, SessionRecord, Version } from "../../../ports/state-store.ts";
import type { Approval } from "../../../schema/approval.ts";
import type { Json, JsonObject } from "../../../schema/values/json.ts";
import type { ToolCallStep } from "../../../schema/plan.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { InvokeOptions } from "../../../tools/gate/call.ts";
import type { AllowedCall, CallOutcome, PendingBlob } from "../../../tools/gate/gate.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import type { Cursor } from "../../cursor.ts";
import { stepOf } from "../../interpreter.ts";
import type { Completion } from "../../transition.ts";
import type { WatchModel } from "../engine-deps.ts";
import type { RunData } from "./run-data.ts";

/** What a run holds in memory while anything of it is under way. */
export type RunState = {
  readonly sessionId: string;
  readonly owner: string;
  readonly plan: CompiledPlan;
  readonly data: RunData;
  cursor: Cursor;
  core: SessionCore;
  /** With what the builder in the making adds: the next check must know of it. */
  energySpent: number;
  version: Version;
  /** Calls that the gate allowed and that have not ended. */
  readonly allowed: Map<string, AllowedCall>;
  /** Ends every call that is under way. */
  readonly calls: AbortController;
  readonly watchModel?: WatchModel | undefined;
  readonly attended?: Attended | undefined;
};

/** The caller of a single call waits here for its outcome, and hears of its progress. The tool cannot ask a person. */
export type Attended = { readonly progress: InvokeOptions["progress"] | undefined; outcome?: CallOutcome };

/** A completion with what its effect produced, on its way to a commit. */
export type Arrival = {
  readonly completion: Completion;
  readonly call?: CallOutcome;
  readonly joined?: Joined;
  /** The question that a person was asked. */
  readonly asked?: Approval;
  /** What an action left for the prompts of those that follow. */
  readonly downstream?: JsonObject | undefined;
  /** Told whether anybody waited for it, once that is on the disk. */
  readonly taken?: (applied: boolean | Promise<boolean>) => void;
  /** When the call was made whose result stands for this one. */
  readonly reusedFrom?: string | undefined;
};

export type Joined = {
  readonly writes: readonly ContextWrite[];
  readonly outputs: ReadonlyMap<string, Json>;
  readonly blobs: readonly PendingBlob[];
};

export function newRunState(record: SessionRecord, plan: CompiledPlan, data: RunData, cursor: Cursor): RunState {
  return {
    sessionId: record.core.sessionId,
    owner: record.owner,
    plan,
    data,
    cursor,
    core: record.core,
    energySpent: record.core.energySpent,
    version: record.version,
    allowed: new Map(),
    calls: new AbortController(),
  };
}

export function toolStep(plan: CompiledPlan, stepId: string): ToolCallStep {
  const step = stepOf(plan, stepId);
  if (step.type !== "tool_call") throw new Error(`Step "${stepId}" calls no tool.`);
  return step;
}

/** The same across attempts and restarts: a visit's position never changes. */
export function idempotencyKey(sessionId: string, position: string): string {
  return `${sessionId}:${position}`;
}
