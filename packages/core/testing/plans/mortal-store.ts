import { madeOf } from "../state-store/made.ts";
import type { Commit, StateStore } from "../../src/ports/state-store.ts";

export type Fate = "written" | "lost" | "written-and-dead";

/**
 * A store whose process can die: a commit may be lost, or be written while nobody is left to hear of it. After that it
 * answers nothing more. `turn` resolves when it may take the next commit; without it, it takes each at once.
 */
export function createMortalStore(
  store: StateStore,
  fateOf: (commit: Commit) => Fate,
  turn?: () => Promise<void>,
): StateStore {
  let dead = false;
  const silence = (): Promise<never> => Promise.withResolvers<never>().promise;
  return {
    ...store,
    commit: async (source) => {
      if (turn !== undefined) await turn();
      if (dead) return silence();
      const commit = madeOf(source);
      const fate = fateOf(commit);
      dead = fate !== "written";
      if (fate === "lost") return silence();
      const receipt = await store.commit(commit);
      return dead ? silence() : receipt;
    },
    sync: () => (dead ? silence() : store.sync()),
  };
}
