import type { SessionCore, SessionStatus } from "../../../schema/session.ts";
import { asJson } from "../../../schema/values/json.ts";
import { placedWaits, shownError, statusOf } from "../waits/waits.ts";
import { note, type CommitBuilder } from "./commit-builder.ts";
import type { RunState } from "./run-state.ts";

/** The session as it is after this builder; a change of status is announced. */
export function recordSession(state: RunState, builder: CommitBuilder, supervised: boolean): SessionCore {
  const core = nextCore(state, builder, supervised);
  if (core.status === "running") return core;
  if (builder.end === undefined && core.status === state.core.status && !waitsChanged(state.core, core)) return core;
  const error = core.lastError === undefined ? {} : { error: asJson(core.lastError) };
  if (builder.end === undefined) {
    note(builder, "session-paused", { status: core.status, waiting: asJson(core.waiting), ...error });
  } else {
    note(builder, `session-${builder.end.status}`, { status: core.status, ...error });
  }
  return core;
}

/** Whoever watches must hear of a new question, though the session had stopped at another before. */
function waitsChanged(before: SessionCore, after: SessionCore): boolean {
  const named = ({ waiting }: SessionCore): string =>
    waiting
      .map(({ path, kind, since, approvalId, needsPerson, correction }) =>
        [path, kind, since, approvalId, needsPerson, correction?.correctionId, correction?.accepted].join(" "),
      )
      .join("\n");
  return named(before) !== named(after);
}

function nextCore(state: RunState, builder: CommitBuilder, supervised: boolean): SessionCore {
  if (builder.end !== undefined) {
    const core = coreAt(state, builder, builder.end.status);
    return builder.end.status === "failed" ? { ...core, lastError: builder.end.error } : core;
  }
  const { cursor } = state;
  const status = statusOf(cursor);
  const now = coreAt(state, builder, status);
  now.currentStepId = cursor.root.at;
  // A single line of steps that runs has no waits; looking for them would be work on the hot path.
  if (status === "running" && cursor.root.state.kind !== "spread") return now;
  const waits = placedWaits(state.plan, cursor, supervised);
  const lastError = shownError(waits);
  return { ...now, waiting: waits.map(({ wait }) => wait), ...(lastError === undefined ? {} : { lastError }) };
}

/** Field by field: it is made with every commit, and copying an object's rest is slow. */
function coreAt({ core, energySpent }: RunState, builder: CommitBuilder, status: SessionStatus): SessionCore {
  const { sessionId, createdAt, run, runId, currentPlanId, mode, energyBudget, conversationId, forkedFrom } = core;
  const next: SessionCore = { sessionId, status, createdAt, updatedAt: builder.at, waiting: [], run, energySpent };
  if (runId !== undefined) next.runId = runId;
  if (currentPlanId !== undefined) next.currentPlanId = currentPlanId;
  if (mode !== undefined) next.mode = mode;
  if (energyBudget !== undefined) next.energyBudget = energyBudget;
  if (conversationId !== undefined) next.conversationId = conversationId;
  if (forkedFrom !== undefined) next.forkedFrom = forkedFrom;
  return next;
}
