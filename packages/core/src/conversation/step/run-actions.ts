import { isErgonError, toErgonError } from "../../errors/ergon-error.ts";
import type { StateStore } from "../../ports/state-store.ts";
import type { Work } from "../../schema/conversation.ts";
import type { ActionResult } from "../../schema/mcp-loop.ts";
import { isSettled, type OpenWait, type SessionCore } from "../../schema/session.ts";
import type { EmbeddedEngine } from "../../plans/engine/engine.ts";
import { compileActions } from "../../planner/compile-actions.ts";
import { argumentsRefused, readActionResults } from "../../planner/turn/execute-actions.ts";

/** `unknown`: it was called, and nobody knows what became of it. */
type WorkResult = ActionResult & { readonly unknown?: true };

/** What became of a choice that was carried out, or is being. */
type WorkOutcome =
  | { readonly kind: "done"; readonly results: readonly WorkResult[]; readonly energyUnits: number }
  | { readonly kind: "waits"; readonly waiting: readonly OpenWait[] }
  /** We were told to stop first; it goes on by itself. */
  | { readonly kind: "left" };

export type RunActions = (run: {
  readonly owner: string;
  readonly conversationId: string;
  readonly work: Work;
  readonly description: string;
  readonly signal: AbortSignal;
}) => Promise<WorkOutcome>;

/**
 * Carries a choice out as a run of the conversation's own session: gate, approvals, journal, ledger and recovery are the
 * engine's. The plan's id says whether this very choice was begun before; then its end is waited for, and nothing repeated.
 */
export function createRunActions({
  engine,
  store,
}: {
  readonly engine: Pick<EmbeddedEngine, "executePlan" | "settled">;
  readonly store: Pick<StateStore, "readJournal">;
}): RunActions {
  return async ({ owner, conversationId: sessionId, work, description, signal }) => {
    const compiled = compileActions(work.actions, { planId: work.planId, onError: "continue", description, say: "" });
    const before = await engine.settled({ owner, sessionId, timeoutMs: 0 });
    let begun = before;
    if (before.currentPlanId !== work.planId) {
      if (!isOver(before)) return await waited(before);
      try {
        begun = await engine.executePlan({ owner, sessionId, conversationId: sessionId, plan: compiled.plan });
      } catch (thrown) {
        const refusal = argumentsRefused(thrown, compiled) ?? notRunnable(thrown);
        if (refusal === undefined) throw thrown;
        return { kind: "done", results: work.actions.map((action) => failed(action, refusal.message)), energyUnits: 0 };
      }
    }
    const core = await engine.settled({ owner, sessionId, signal });
    if (!isSettled(core)) return { kind: "left" };
    if (!isOver(core)) return { kind: "waits", waiting: core.waiting };
    const ran = await readActionResults(store, { sessionId, run: begun.run, compiled });
    const done = new Map(
      ran.map(({ stepId, row, result }) => [stepId, row.state === "unknown" ? unknown(result) : result]),
    );
    const results = compiled.steps.map(({ stepId, action }) => done.get(stepId) ?? failed(action, notReached(core)));
    return { kind: "done", results, energyUnits: ran.reduce((sum, { row }) => sum + row.energyUnits, 0) };

    /** Somebody runs a plan of their own in this session: it comes first. */
    async function waited(busy: SessionCore): Promise<WorkOutcome> {
      const settled = isSettled(busy) ? busy : await engine.settled({ owner, sessionId, signal });
      return isSettled(settled) && !isOver(settled) ? { kind: "waits", waiting: settled.waiting } : { kind: "left" };
    }
  };
}

/** Another plan may begin. */
function isOver({ status, waiting }: SessionCore): boolean {
  return (
    status === "completed" ||
    status === "failed" ||
    status === "cancelled" ||
    (status === "paused" && waiting.length === 0)
  );
}

function notReached({ status, lastError }: SessionCore): string {
  if (status === "cancelled") return "It was cancelled by a person.";
  return lastError?.message ?? "It was not reached.";
}

/** A plan that cannot run at all says so to whoever chose it; what passes by itself is thrown. */
function notRunnable(thrown: unknown): Error | undefined {
  if (!isErgonError(thrown) || thrown.retryable) return undefined;
  return thrown.code === "plan_invalid" || thrown.code === "tool_not_found"
    ? toErgonError(thrown, "plan_invalid")
    : undefined;
}

/** Whoever chose it must not choose it again as if nothing had happened. */
function unknown(result: ActionResult): WorkResult {
  const error = `${result.error ?? ""} It may have been done, and is not called again: tell the person.`.trim();
  return { ...result, success: false, error, unknown: true };
}

function failed({ tool, args }: Work["actions"][number], error: string): ActionResult {
  return { tool, input: args, output: null, success: false, error };
}
