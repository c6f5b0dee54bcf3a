import type { RunRow } from "../ports/state-store.ts";
import type { CommitRows } from "../store-kit/commit-rows.ts";
import { refuse } from "../store-kit/store-refusals.ts";

/** The ids that callers gave to runs, per owner. */
export function createMemoryRuns() {
  const byOwner = new Map<string, Map<string, RunRow>>();
  const read = ({ owner, id }: { readonly owner: string; readonly id: string }): RunRow | undefined =>
    byOwner.get(owner)?.get(id);

  return {
    read,
    /** Throws when the id of this commit's run is taken (S11). */
    check: ({ owner, run }: CommitRows): void => {
      const taken = run === undefined ? undefined : read({ owner, id: run.id });
      if (taken !== undefined) throw refuse.runTaken(taken);
    },
    write: ({ owner, sessionId, run, expireRuns }: CommitRows): void => {
      if (run !== undefined) {
        const own = byOwner.get(owner) ?? new Map<string, RunRow>();
        byOwner.set(owner, own.set(run.id, { ...run, sessionId }));
      }
      if (expireRuns === undefined) return;
      for (const own of byOwner.values())
        for (const { id, hash, sessionId: of } of own.values())
          if (of === sessionId) own.set(id, { id, hash, endedAt: expireRuns });
    },
  };
}
