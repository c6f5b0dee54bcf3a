import { LoopAlreadyExistsError } from "../errors/refinement.ts";
import { storeError } from "../errors/store.ts";
import {
  type LoopKeeping,
  type LoopStore,
  type LoopSummary,
  MAX_LOOP_OWNERS,
  RECENT_SCORES,
} from "../ports/loop-store.ts";
import type { Score } from "../schema/refinement.ts";

type KeptLoop = { summary: LoopSummary; readonly scores: Score[] };

/** Loops that live as long as the process. */
export function createMemoryLoopStore({ keepPerOwner, maxOwners = MAX_LOOP_OWNERS }: LoopKeeping): LoopStore {
  // Both keep their order: of owners by when they were last heard of, of loops by when they were made.
  const owners = new Map<string, Map<string, KeptLoop>>();
  let closed = false;

  async function open<T>(act: () => T): Promise<T> {
    if (closed) throw storeError("store_closed", "The loop store is closed.");
    return act();
  }

  const heardOf = (owner: string): Map<string, KeptLoop> | undefined => {
    const loops = owners.get(owner);
    if (loops === undefined) return undefined;
    owners.delete(owner);
    owners.set(owner, loops);
    return loops;
  };

  return {
    add: (owner, { score_history, ...summary }) =>
      open(() => {
        const loops = heardOf(owner) ?? new Map<string, KeptLoop>();
        if (loops.has(summary.id)) throw new LoopAlreadyExistsError(summary.id);
        owners.set(owner, loops);
        loops.set(summary.id, { summary: { ...summary }, scores: [...score_history] });
        dropOldest(loops, keepPerOwner);
        dropOldest(owners, maxOwners);
      }),
    read: ({ owner, id }) =>
      open(() => {
        const kept = heardOf(owner)?.get(id);
        return kept === undefined ? undefined : { ...kept.summary, score_history: [...kept.scores] };
      }),
    list: (owner) => open(() => [...(heardOf(owner)?.values() ?? [])].map(({ summary }) => ({ ...summary }))),
    change: ({ owner, id }, decide) =>
      open(() => {
        const kept = heardOf(owner)?.get(id);
        if (kept === undefined) return undefined;
        const { score, status, iteration } = decide({
          ...kept.summary,
          recent_scores: kept.scores.slice(-RECENT_SCORES),
        });
        kept.scores.push(score);
        kept.summary = { ...kept.summary, status, iteration, current_score: score };
        return { ...kept.summary };
      }),
    close: async () => {
      closed = true;
      owners.clear();
    },
  };
}

function dropOldest(map: Map<string, unknown>, keep: number): void {
  for (const key of map.keys()) {
    if (map.size <= keep) return;
    map.delete(key);
  }
}
