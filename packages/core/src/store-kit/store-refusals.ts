import type { ErgonError } from "../errors/ergon-error.ts";
import { storeError, type StoreErrorCode } from "../errors/store.ts";
import { usageError } from "../errors/usage.ts";
import { MAX_PAGE_ROWS, type Page, type RunRow } from "../ports/state-store.ts";

/** What every store says when it refuses: the same words, whichever store it is. */
export const refuse = {
  conflict: (sessionId: string, expected: number, actual: number): ErgonError<StoreErrorCode> =>
    storeError(
      "session_conflict",
      `Session "${sessionId}" is at version ${String(actual)}, not ${String(expected)}: someone else wrote it. Read it again and retry.`,
      { details: { sessionId, expected, actual } },
    ),
  unknownSession: (sessionId: string): ErgonError<StoreErrorCode> =>
    storeError("session_not_found", `No session "${sessionId}". Create it with expectVersion 0 first.`, {
      details: { sessionId },
    }),
  runTaken: ({ id, sessionId, endedAt }: RunRow): ErgonError<StoreErrorCode> =>
    sessionId === undefined
      ? storeError("run_expired", `Run "${id}" was deleted at ${endedAt}. To run the plan again, use another id.`, {
          details: { runId: id, endedAt },
        })
      : storeError("run_conflict", `Run "${id}" is there already: session ${sessionId}. Use another id.`, {
          details: { runId: id, sessionId },
        }),
  positionTaken: (sessionId: string, position: string): ErgonError<StoreErrorCode> =>
    storeError(
      "commit_invalid",
      `Session "${sessionId}" has a journal row at ${position} already. Nothing was written.`,
      {
        details: { sessionId, position },
      },
    ),
  positionSettled: (sessionId: string, position: string): ErgonError<StoreErrorCode> =>
    storeError(
      "commit_invalid",
      `The journal row at ${position} of session "${sessionId}" has its result already. Nothing was written.`,
      {
        details: { sessionId, position },
      },
    ),
  positionUnknown: (sessionId: string, position: string): ErgonError<StoreErrorCode> =>
    storeError(
      "commit_invalid",
      `Session "${sessionId}" has no started journal row at ${position} to finish. Nothing was written.`,
      {
        details: { sessionId, position },
      },
    ),
  queueFull: (limit: string): ErgonError<StoreErrorCode> =>
    storeError("store_unavailable", `The store has ${limit} waiting to be written. Try again shortly.`, {
      retryable: true,
    }),
  closed: (): ErgonError<StoreErrorCode> => storeError("store_closed", "The store is closed."),
};

/** A page's size, never above the bound that all stores share. */
export function pageLimit(limit: number): number {
  if (checkWhole("limit", limit) === 0) throw usageError("input_invalid", '"limit" must be at least 1.');
  return Math.min(limit, MAX_PAGE_ROWS);
}

/** Cuts what was read with one row to spare; the row to spare says that a next page exists. */
export function pageOf<T>(rows: readonly T[], limit: number, cursor: (last: T) => string): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return rows.length > limit && last !== undefined ? { items, nextCursor: cursor(last) } : { items };
}

export function checkWhole(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw usageError("input_invalid", `"${name}" must be a whole number from 0, not ${String(value)}.`);
  }
  return value;
}

export function sessionCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined;
  if (!/^[1-9][0-9]{0,14}$/.test(cursor)) throw badCursor();
  return Number(cursor);
}

export function writeScopeCursor(scope: string, key: string): string {
  return JSON.stringify([scope, key]);
}

export function scopeCursor(cursor: string): { readonly scope: string; readonly key: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(cursor);
  } catch (cause) {
    throw badCursor(cause);
  }
  const [scope, key] = Array.isArray(parsed) ? (parsed as unknown[]) : [];
  if (typeof scope !== "string" || typeof key !== "string") throw badCursor();
  return { scope, key };
}

function badCursor(cause?: unknown) {
  return usageError("input_invalid", "This cursor is not one that the store gave. Start again without it.", { cause });
}
