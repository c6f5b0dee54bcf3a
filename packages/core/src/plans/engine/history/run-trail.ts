/*
 * The trail of a run: what of its way through the plan's top-level steps cannot be told from plan and journal. It makes
 * the context of every step that began known for good, though later steps write over it.
 *
 * A call that succeeded needs no trail: the journal has its output, and the plan names what it is saved as and which
 * step comes next. So a plain line of calls leaves none. All else leaves rows beside the session's context, in scopes
 * that no list of steps has: `@<run>` holds what the run found under the keys that it may write, `@<position>` what
 * that visit wrote, and which step it was at.
 */
import type { ContextRow, ContextWrite, StateStore } from "../../../ports/state-store.ts";
import { MAX_PAGE_ROWS } from "../../../ports/state-store.ts";
import type { Cursor } from "../../cursor.ts";
import { rootPlace, visitPosition } from "../../visits.ts";
import { stepOf, type Advance, type IndexedPlan } from "../../interpreter.ts";
import { DOWNSTREAM_KEY } from "../../join.ts";
import { encodePart } from "../../position.ts";
import { FINAL_RESPONSE_KEY } from "../../steps/final-response.ts";
import { HUMAN_INPUT_KEY } from "../../steps/human-in-the-loop.ts";
import { resultKey, TOOL_CHANGED } from "../../steps/tool-call.ts";
import type { Completion } from "../../transition.ts";

/** Rows of the trail that are read at once, and so the number of such visits that a run may have and be forked. */
export const MAX_TRAIL_ROWS = 20_000;

/** No step can write these: they are no context keys. */
const STEP_KEY = "@step";
const LAST_KEY = "@last";
const NOTHING: readonly ContextWrite[] = [];

/** What a completion that moved the top-level list on leaves on the trail. */
export function trailOf(
  { run, root: before }: Cursor,
  { cursor: { root: after }, writes, end }: Advance,
  completion: Completion,
  joined: readonly ContextWrite[] = NOTHING,
): readonly ContextWrite[] {
  if (end?.status === "failed") return [trailEnd({ run, root: before })];
  if (after.index === before.index) return NOTHING;
  // A tool that was another by then was not called: the journal does not tell that its step came again.
  const anew = completion.kind === "called" && !completion.ok && completion.error.code === TOOL_CHANGED;
  if (completion.kind === "called" && !anew) return NOTHING;
  if (completion.kind === "decided" && completion.decision.action === "happened") return NOTHING;
  const scope = visitScope(run, before.index);
  const next = { scope: visitScope(run, after.index), key: STEP_KEY, value: inline(after.at) };
  return [...joined.map((write) => ({ ...write, scope })), ...writes.map((write) => ({ ...write, scope })), next];
}

/** The last step of a run that ended in the middle of its plan. */
export function trailEnd({ run, root }: Cursor): ContextWrite {
  return { scope: runScope(run), key: LAST_KEY, value: inline(root.index) };
}

/** What a run finds and may write over. */
export function trailBase(plan: IndexedPlan, run: number, rows: readonly ContextRow[]): ContextWrite[] {
  if (rows.length === 0) return [];
  const written = writtenKeys(plan);
  return rows.filter(({ key }) => written.has(key)).map((row) => ({ ...row, scope: runScope(run) }));
}

/** Every key that a run of this plan can leave in the session's context. */
export function writtenKeys({ steps }: IndexedPlan): ReadonlySet<string> {
  const keys = new Set<string>([DOWNSTREAM_KEY]);
  for (const step of steps.values()) {
    if (step.type === "tool_call") keys.add(resultKey(step.toolId));
    if (step.type === "human_in_the_loop") keys.add(HUMAN_INPUT_KEY);
    if (step.type === "final_response") keys.add(FINAL_RESPONSE_KEY);
    if ((step.type === "tool_call" || step.type === "human_in_the_loop") && step.saveAs !== undefined)
      keys.add(step.saveAs);
  }
  return keys;
}

export type TrailVisit = { readonly stepId: string; readonly index: number; readonly position: string };

export type Trail = {
  /** The visits of top-level steps, in the order in which they began. */
  readonly visits: () => Generator<TrailVisit>;
  /** What the run found under the keys that it may write. */
  readonly base: readonly ContextRow[];
  /** What a visit wrote, a call's own result aside. */
  readonly writes: (position: string) => readonly ContextRow[];
  /** The rows themselves, up to a visit: what a fork takes along. */
  readonly upTo: (position: string) => readonly ContextRow[];
};

/** undefined when it has more rows than are read. */
export async function readTrail(
  store: StateStore,
  plan: IndexedPlan,
  session: { readonly sessionId: string; readonly run: number; readonly cursor: Cursor | null },
): Promise<Trail | undefined> {
  const { sessionId, run, cursor } = session;
  const rows = await readRows(store, sessionId, runScope(run));
  if (rows === undefined) return undefined;
  const byScope = new Map<string, ContextRow[]>();
  for (const row of rows) {
    const known = byScope.get(row.scope);
    if (known === undefined) byScope.set(row.scope, [row]);
    else known.push(row);
  }
  const own = byScope.get(runScope(run)) ?? [];
  const ended = own.find(({ key }) => key === LAST_KEY);
  const last = cursor?.root.index ?? (ended === undefined ? Infinity : Number(valueOf(ended)));

  function* visits(): Generator<TrailVisit> {
    let stepId: string | undefined = plan.plan.startStepId;
    for (let index = 0; stepId !== undefined; index++) {
      yield { stepId, index, position: visitPosition(rootPlace(run), index) };
      if (index === last) return;
      const told = byScope.get(visitScope(run, index + 1))?.find(({ key }) => key === STEP_KEY);
      const step = stepOf(plan, stepId);
      if (told !== undefined) stepId = String(valueOf(told));
      else stepId = step.type === "tool_call" ? step.nextStepId : undefined;
    }
  }

  return {
    visits,
    base: own.filter(({ key }) => key !== LAST_KEY),
    writes: (position) => (byScope.get(trailScope(position)) ?? []).filter(({ key }) => key !== STEP_KEY),
    // The visit at `position` itself has begun, and not yet written.
    upTo: (position) =>
      rows.filter(({ scope, key }) =>
        scope < trailScope(position) ? key !== LAST_KEY : scope === trailScope(position) && key === STEP_KEY,
      ),
  };
}

async function readRows(store: StateStore, sessionId: string, prefix: string): Promise<ContextRow[] | undefined> {
  const rows: ContextRow[] = [];
  let cursor: string | undefined;
  do {
    const query = { sessionId, scopePrefix: prefix, limit: MAX_PAGE_ROWS };
    const page = await store.readScopes(cursor === undefined ? query : { ...query, cursor });
    rows.push(...page.items);
    if (rows.length > MAX_TRAIL_ROWS) return undefined;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return rows;
}

const SIGN = "@";

/** Where what a visit of a top-level step wrote is kept. */
export function trailScope(position: string): string {
  return SIGN + position;
}

function runScope(run: number): string {
  return SIGN + encodePart(run);
}

function visitScope(run: number, index: number): string {
  return SIGN + visitPosition(rootPlace(run), index);
}

function inline(value: string | number): ContextWrite["value"] {
  return { kind: "inline", value };
}

function valueOf({ value }: ContextRow): unknown {
  return value.kind === "inline" ? value.value : undefined;
}
