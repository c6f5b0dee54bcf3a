import { createMemoryStateStore } from "../../src/memory/state-store.ts";
import { madeOf } from "../state-store/made.ts";
import type { Commit, StateStore } from "../../src/ports/state-store.ts";

export type FragileDisk = {
  /** The store as a machine finds it that has lost power: what was committed since the last sync is forgotten (S2). */
  readonly restart: () => Promise<StateStore>;
};

/** Syncs take a turn of the event loop, so that whoever does not wait for them is ahead of the disk. */
export function createFragileDisk(): FragileDisk {
  const commits: Commit[] = [];
  let onDisk = 0;
  let lives = 0;

  return {
    restart: async () => {
      const life = ++lives;
      commits.length = onDisk;
      const store = createMemoryStateStore();
      for (const commit of commits) await store.commit(commit);

      async function sync(): Promise<void> {
        const covered = commits.length;
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        if (life === lives) onDisk = Math.max(onDisk, covered);
      }
      return {
        ...store,
        commit: async (source) => {
          const commit = madeOf(source);
          const receipt = await store.commit(commit);
          commits.push(commit);
          if (commit.durable === true) await sync();
          return receipt;
        },
        sync,
      };
    },
  };
}
