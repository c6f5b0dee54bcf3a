import type { Commit, CommitSource } from "../../src/ports/state-store.ts";

/** For stores in tests that look at each commit before they pass it on. */
export function madeOf(source: CommitSource): Commit {
  return typeof source === "function" ? source() : source;
}
