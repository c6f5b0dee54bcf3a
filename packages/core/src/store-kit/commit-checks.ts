import type { ErgonError } from "../errors/ergon-error.ts";
import { storeError, type StoreErrorCode } from "../errors/store.ts";
import type { Commit } from "../ports/state-store.ts";

/** Keys (positions, scopes, names) are short by nature; this keeps an index from being used as a store. */
export const MAX_KEY_CHARS = 2_048;

/** Counts the JSON of a commit while it is written. */
export type Measured = { chars: number };

export function write(commit: Commit, what: string, value: unknown, text: Measured): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (cause) {
    throw invalid(commit, `has a ${what} that is not JSON`, cause);
  }
  if (json === undefined) throw invalid(commit, `has a ${what} that is not JSON`);
  text.chars += json.length;
  return json;
}

/** Half a surrogate pair cannot be written as UTF-8: two different keys would become one on a disk. */
export function checkKey(commit: Commit, what: string, key: string): string {
  if (typeof key !== "string") throw invalid(commit, `has a ${what} that is not a string`);
  if (key.length > MAX_KEY_CHARS)
    throw invalid(commit, `has a ${what} of ${String(key.length)} characters, more than ${String(MAX_KEY_CHARS)}`);
  if (!key.isWellFormed()) throw invalid(commit, `has a ${what} that is not well-formed Unicode`);
  return key;
}

export function checkNumber(commit: Commit, what: string, value: number): number {
  if (!Number.isFinite(value)) throw invalid(commit, `has ${what} that are not a finite number`);
  return value;
}

export function checkCount(commit: Commit, what: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw invalid(commit, `has a ${what} that is not a whole number from 0`);
  return value;
}

export function invalid(commit: Commit, problem: string, cause?: unknown): ErgonError<StoreErrorCode> {
  return storeError("commit_invalid", `A commit of session "${commit.sessionId}" ${problem}. Nothing was written.`, {
    details: { sessionId: commit.sessionId },
    cause,
  });
}
