import { planError } from "../../../errors/plan.ts";
import { storeError } from "../../../errors/store.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { ForkSession } from "../../../ports/engine.ts";
import {
  MAX_PAGE_ROWS,
  type ContextRow,
  type ContextWrite,
  type JournalRow,
  type JournalWhole,
  type SessionRecord,
  type StateStore,
} from "../../../ports/state-store.ts";
import { isBlobRef } from "../../../schema/blob.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { didYouMean } from "../../../schema/values/suggest.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import { cursorOf } from "../../cursor.ts";
import { stepOf } from "../../interpreter.ts";
import { afterPrefix, encodePart } from "../../position.ts";
import { calledTool } from "../../single-call.ts";
import { resultWrites } from "../../steps/tool-call.ts";
import { outputOf } from "../run/run-data.ts";
import { beginRun, type StartDeps } from "../run/start-run.ts";
import { MAX_TRAIL_ROWS, readTrail, writtenKeys, type Trail, type TrailVisit } from "./run-trail.ts";

/** A fork is one commit, and takes along what fits into one. */
export const MAX_FORK_ROWS = 20_000;
export const MAX_FORK_CHARS = 12 * 1024 * 1024;
const MAX_CONTEXT_CHARS = 3 * 1024 * 1024;

/**
 * A new session that goes on from a top-level step of another one's latest run. It keeps the positions of what came
 * before, so that history reads the same and outputs are still referred to; large values are the same blobs.
 */
export async function forkSession(
  deps: StartDeps,
  source: SessionRecord,
  { fromStep, input: given, newSessionId, repeatOnce }: ForkSession,
): Promise<SessionCore> {
  const { core, planHash } = source;
  const { sessionId, run } = core;
  if (planHash === undefined || calledTool(planHash) !== undefined)
    throw planError("plan_missing", `Session ${sessionId} has run no plan, so there is no step to fork it from.`);
  const stored = await deps.store.readPlan(planHash);
  if (stored === undefined) throw storeError("store_corrupt", `The plan of session ${sessionId} is not in the store.`);
  const compiled = deps.pool.compiled(planHash, stored);
  checkStep(compiled, fromStep);
  const { checked, input } = deps.checkedPlans.check({
    plan: stored,
    input: given === undefined ? await inputOf(deps, source) : given,
    role: core.mode,
  });

  const cursor = cursorOf(source);
  const trail = await readTrail(deps.store, compiled, { sessionId, run, cursor });
  if (trail === undefined) throw tooLarge(sessionId, `${String(MAX_TRAIL_ROWS)} steps that left a trail`);
  const visit = lastVisit(trail, fromStep);
  if (visit === undefined)
    throw planError("step_not_reached", `Session ${sessionId} has not reached step "${fromStep}".`, {
      details: { stepId: fromStep, status: core.status },
    });
  if (repeatOnce !== true) await refuseRepeated(deps.store, { sessionId, run, visit });
  const history = await readHistory(deps.store, sessionId, visit.position);
  const now = await deps.store.readContext(sessionId, [""]);
  await stillIn(deps.store, source);
  const context = contextAt(compiled, trail, { visit, history, now });
  const written = [...context, ...trail.upTo(visit.position)];
  const chars = written.reduce((sum, row) => sum + JSON.stringify(row).length, 0);
  if (chars > MAX_CONTEXT_CHARS) throw tooLarge(sessionId, `${String(MAX_CONTEXT_CHARS)} characters of context`);

  const at = isoTime(deps.clock);
  const forked: SessionCore = {
    sessionId: newSessionId ?? deps.ids.next("ses"),
    status: "running",
    createdAt: at,
    updatedAt: at,
    currentPlanId: checked.plan.planId,
    waiting: [],
    run,
    energySpent: 0,
    forkedFrom: { sessionId, stepId: fromStep },
    ...(core.mode === undefined ? {} : { mode: core.mode }),
    ...(core.energyBudget === undefined ? {} : { energyBudget: core.energyBudget }),
  };
  return await beginRun(deps, {
    record: { owner: source.owner, version: 0, core: forked, cursor: null },
    checked,
    compiled,
    input,
    cursor: { run, root: { at: fromStep, index: visit.index, state: { kind: "ready" } } },
    fill: ({ data }) => {
      data.write(context, (position) => outputOf(history.get(position), sessionId, position));
      const journal = [...history.values()].map(wholeRow);
      return Promise.resolve({ context: written, journal });
    },
  });
}

function checkStep(plan: CompiledPlan, stepId: string): void {
  if (plan.plan.steps.some(({ id }) => id === stepId)) return;
  const { planId } = plan.plan;
  const topLevel = plan.plan.steps.map(({ id }) => id);
  if (plan.steps.has(stepId))
    throw planError(
      "step_nested",
      `Step "${stepId}" of plan "${planId}" lies inside another step; a fork starts from a top-level one: ${named(topLevel)}.`,
      { details: { stepId } },
    );
  throw planError("step_not_found", `Plan "${planId}" has no step "${stepId}".${didYouMean(stepId, topLevel)}`, {
    details: { stepId },
  });
}

/** A message stays readable when a plan is long. */
const NAMED_STEPS = 10;

function named(ids: readonly string[]): string {
  return ids.length <= NAMED_STEPS ? ids.join(", ") : `${ids.slice(0, NAMED_STEPS).join(", ")}, …`;
}

async function inputOf({ blobCache }: StartDeps, { owner, input = {} }: SessionRecord): Promise<Json> {
  return isBlobRef(input) ? await blobCache.load(owner, input) : input;
}

function lastVisit(trail: Trail, stepId: string): TrailVisit | undefined {
  let found: TrailVisit | undefined;
  for (const visit of trail.visits()) if (visit.stepId === stepId) found = visit;
  return found;
}

/** All that had a result before the step began, by position. */
async function readHistory(store: StateStore, sessionId: string, to: string): Promise<Map<string, JournalRow>> {
  const history = new Map<string, JournalRow>();
  let chars = 0;
  for (let from = ""; ;) {
    const rows = await store.readJournal({
      sessionId,
      ranges: [{ from, to }],
      settledOnly: true,
      order: "oldest",
      limit: MAX_PAGE_ROWS,
    });
    for (const row of rows) {
      history.set(row.position, row);
      chars += JSON.stringify(row).length;
    }
    if (history.size > MAX_FORK_ROWS) throw tooLarge(sessionId, `${String(MAX_FORK_ROWS)} calls`);
    if (chars > MAX_FORK_CHARS) throw tooLarge(sessionId, `${String(MAX_FORK_CHARS)} characters of history`);
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAX_PAGE_ROWS) return history;
    from = `${last.position}\u0000`;
  }
}

/** A fork makes the calls from its step on again, and those of effects `once` only when that is asked for. */
async function refuseRepeated(
  store: StateStore,
  { sessionId, run, visit }: { readonly sessionId: string; readonly run: number; readonly visit: TrailVisit },
): Promise<void> {
  const to = afterPrefix(encodePart(run));
  for (let from = visit.position; ;) {
    const rows = await store.readJournal({ sessionId, ranges: [{ from, to }], order: "oldest", limit: MAX_PAGE_ROWS });
    const done = rows.find(({ effects, state }) => effects === "once" && state !== "failed");
    if (done !== undefined) throw onceRepeated(visit.stepId, done);
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAX_PAGE_ROWS) return;
    from = `${last.position}\u0000`;
  }
}

function onceRepeated(fromStep: string, { stepId = fromStep, toolId, state, startedAt, key }: JournalRow): Error {
  const did = state === "finished" ? "called" : "may have called";
  return planError(
    "once_repeated",
    `Step "${stepId}" ${did} "${toolId}" at ${startedAt}, which has effects "once": a fork from "${fromStep}" would call it again. Fork from a later step, or say that it may be repeated: --repeat-once ("repeatOnce": true).`,
    { details: { stepId, toolId, startedAt, idempotencyKey: key } },
  );
}

/** What was read belongs together only if no other plan was begun meanwhile. */
async function stillIn(store: StateStore, { core: { sessionId, run } }: SessionRecord): Promise<void> {
  const now = await store.readSession(sessionId);
  if (now?.core.run === run) return;
  throw planError("session_busy", `Session ${sessionId} has just been given another plan; fork it again.`, {
    retryable: true,
  });
}

/** The session's context when a visit began: what the run found, then what each step before it wrote. */
function contextAt(
  plan: CompiledPlan,
  trail: Trail,
  parts: {
    readonly visit: TrailVisit;
    readonly history: ReadonlyMap<string, JournalRow>;
    readonly now: readonly ContextRow[];
  },
): readonly ContextWrite[] {
  const written = writtenKeys(plan);
  const context = new Map<string, ContextWrite>();
  const put = (rows: readonly ContextWrite[]): void => {
    for (const row of rows) context.set(row.key, { ...row, scope: "" });
  };
  // What no step can write is still as it was found.
  put(parts.now.filter(({ key }) => !written.has(key)));
  put(trail.base);
  for (const { index, position, stepId } of trail.visits()) {
    if (index === parts.visit.index) break;
    const step = stepOf(plan, stepId);
    const result = parts.history.get(position)?.result;
    if (step.type === "tool_call" && result !== undefined && "output" in result) put(resultWrites(step, "", position));
    put(trail.writes(position));
  }
  return [...context.values()];
}

/** As it was recorded, its idempotency key too: that is what was sent. */
function wholeRow({ startedAt, finishedAt = startedAt, state, result, ...row }: JournalRow): JournalWhole {
  if (result === undefined || state === "started") throw new Error(`The call at ${row.position} has no result.`);
  return { ...row, kind: "whole", at: startedAt, finishedAt, state, result };
}

function tooLarge(sessionId: string, what: string): Error {
  return planError(
    "fork_too_large",
    `Session ${sessionId} has more than ${what} before that step, too much for a fork; run its plan again instead.`,
  );
}
