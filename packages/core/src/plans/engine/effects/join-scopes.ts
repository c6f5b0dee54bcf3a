import { storeError } from "../../../errors/store.ts";
import { MAX_PAGE_ROWS, type ContextRow, type ContextWrite, type StateStore } from "../../../ports/state-store.ts";
import type { Json } from "../../../schema/values/json.ts";
import type { PendingBlob } from "../../../tools/gate/gate.ts";
import { offload } from "../../../tools/gate/offload.ts";
import type { CompiledPlan } from "../../compiled-plan.ts";
import type { Cursor } from "../../cursor.ts";
import { visitPath } from "../../visits.ts";
import { stepOf } from "../../interpreter.ts";
import { joinBranches, joinTurns, type ChildContext } from "../../join.ts";
import { afterPrefix, partAt } from "../../position.ts";
import type { At } from "../../transition.ts";
import { outputOf } from "../run/run-data.ts";
import type { Joined } from "../run/run-state.ts";

/** Below this many outputs they are fetched one by one, above it by one walk over the loop's part of the journal. */
const FEW_OUTPUTS = 64;

/** Reads what the branches or turns of a step wrote, and merges it into their parent's context. */
export async function joinScopes(parts: {
  readonly deps: { readonly store: StateStore };
  readonly plan: CompiledPlan;
  readonly sessionId: string;
  readonly effect: At;
  readonly cursor: Cursor;
}): Promise<Joined> {
  const { deps, plan, sessionId, effect, cursor } = parts;
  const children = await readChildren(deps.store, sessionId, effect.position);
  const { scope } = effect.place;
  const step = stepOf(plan, effect.stepId);
  if (step.type !== "loop_over_items") {
    const writes = joinBranches(scope, children);
    return { writes, outputs: await outputsFor(deps.store, sessionId, effect.position, refsOf(writes)), blobs: [] };
  }
  const state = visitPath(cursor, effect.position).at(-1)?.frame.state;
  const count = state?.kind === "spread" ? state.count : 0;
  const rows = children.flatMap((child) => child.rows);
  const outputs = await outputsFor(deps.store, sessionId, effect.position, refsOf(rows));
  const valueOf = (row: ContextRow): Json =>
    row.value.kind === "inline" ? row.value.value : known(outputs, row.value.position);
  const joined = joinTurns(scope, children, { count, savedKeys: plan.savedKeys(step.id), valueOf });
  const blobs: PendingBlob[] = [];
  return { writes: joined.map((write) => bounded(write, blobs)), outputs, blobs };
}

/** The rows of direct children only: what lies deeper has been joined into them. */
async function readChildren(store: StateStore, sessionId: string, position: string): Promise<ChildContext[]> {
  const children: { index: number; rows: ContextRow[] }[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.readScopes({
      sessionId,
      scopePrefix: position,
      limit: MAX_PAGE_ROWS,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const row of page.items) {
      const child = partAt(row.scope, position.length);
      if (child.end !== row.scope.length) continue;
      const last = children.at(-1);
      if (last?.index === child.value) last.rows.push(row);
      else children.push({ index: child.value, rows: [row] });
    }
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return children;
}

function refsOf(rows: readonly ContextWrite[]): Set<string> {
  const positions = new Set<string>();
  for (const { value } of rows) if (value.kind === "output") positions.add(value.position);
  return positions;
}

async function outputsFor(
  store: StateStore,
  sessionId: string,
  prefix: string,
  positions: ReadonlySet<string>,
): Promise<Map<string, Json>> {
  const outputs = new Map<string, Json>();
  if (positions.size <= FEW_OUTPUTS) {
    for (const position of positions)
      outputs.set(position, outputOf(await store.readJournalRow(sessionId, position), sessionId, position));
    return outputs;
  }
  const to = afterPrefix(prefix);
  for (let from = prefix; ;) {
    const rows = await store.readJournal({
      sessionId,
      ranges: [{ from, to }],
      settledOnly: true,
      order: "oldest",
      limit: MAX_PAGE_ROWS,
    });
    for (const row of rows)
      if (positions.has(row.position)) outputs.set(row.position, outputOf(row, sessionId, row.position));
    const last = rows.at(-1);
    if (last === undefined || rows.length < MAX_PAGE_ROWS) return outputs;
    from = `${last.position}\u0000`;
  }
}

function bounded(write: ContextWrite, blobs: PendingBlob[]): ContextWrite {
  if (write.value.kind !== "inline") return write;
  const kept = offload(write.value.value);
  if (kept.blob === undefined) return write;
  blobs.push(kept.blob);
  return { ...write, value: { kind: "inline", value: kept.blob.ref } };
}

function known(outputs: ReadonlyMap<string, Json>, position: string): Json {
  const output = outputs.get(position);
  if (output === undefined)
    throw storeError("store_corrupt", `The journal has no output at ${position}, which a loop refers to.`);
  return output;
}
