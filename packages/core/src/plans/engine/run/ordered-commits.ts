import { isErgonError } from "../../../errors/ergon-error.ts";
import type { CommitSource, StateStore } from "../../../ports/state-store.ts";
import { untilWritten, type Patience } from "./until-written.ts";

/**
 * Gives a run's commits to the store without waiting for the one before. When the store cannot take one for a while,
 * those after it are refused by the version fence; each is tried again once the one before it is written. Rejects when a
 * commit, or one before it, can never be written.
 */
export function createOrderedCommits(
  deps: Patience & { readonly store: StateStore },
): (commit: CommitSource) => Promise<void> {
  let last: Promise<{ readonly late: boolean }> = Promise.resolve({ late: false });

  async function inOrder(commit: CommitSource, before: typeof last): Promise<{ readonly late: boolean }> {
    try {
      await deps.store.commit(commit);
      return { late: false };
    } catch (thrown) {
      const { late } = await before;
      if (!late && !(isErgonError(thrown) && thrown.code === "store_unavailable")) throw thrown;
    }
    await untilWritten(deps, () => deps.store.commit(commit));
    return { late: true };
  }

  return async (commit) => {
    const mine = inOrder(commit, last);
    last = mine;
    await mine;
  };
}
