import { type ErgonError, isErgonError } from "@ergon/core";
import { storeError, type StoreErrorCode } from "@ergon/core/schema";
import { fromFileSystem } from "../../blobs/file-errors.ts";

/** What SQLite (or a row that no longer reads) threw, as a store's error. An ErgonError passes through. */
export function fromSqlite(thrown: unknown, doing: string): ErgonError {
  if (isErgonError(thrown)) return thrown;
  if (thrown instanceof SyntaxError || (thrown instanceof Error && thrown.name === "ZodError")) {
    return storeError("store_corrupt", `While ${doing}, a row was found that does not read. ${RESTORE}`, {
      cause: thrown,
    });
  }
  if (thrown instanceof Error && "syscall" in thrown) return fromFileSystem(thrown, doing);
  // The low byte of the extended code is the primary one.
  const result = extendedResult(thrown) & 0xff;
  const { code, retryable, advice } = meaningOf(result);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  return storeError(code, `While ${doing}, SQLite said: ${said}. ${advice}`, {
    retryable,
    details: { sqliteCode: result },
    cause: thrown,
  });
}

export const RESTORE = "Restore the data folder from a copy.";

/** Another connection uses the database. */
export function isBusy(error: ErgonError): boolean {
  return error.details?.["sqliteCode"] === SQLITE.busy;
}

/** SQLite itself says that the file is broken. */
export function isCorruption(error: ErgonError): boolean {
  const code = error.details?.["sqliteCode"];
  return code === SQLITE.corrupt || code === SQLITE.notADatabase;
}

export function isIoFailure(error: ErgonError): boolean {
  return error.details?.["sqliteCode"] === SQLITE.ioError || error.details?.["errno"] === "EIO";
}

/** The tables contradict what was checked before the write. */
export function isConstraint(error: ErgonError): boolean {
  return error.details?.["sqliteCode"] === SQLITE.constraint;
}

type Meaning = { readonly code: StoreErrorCode; readonly retryable: boolean; readonly advice: string };

function extendedResult(thrown: unknown): number {
  if (typeof thrown !== "object" || thrown === null || !("errcode" in thrown)) return 0;
  return typeof thrown.errcode === "number" ? thrown.errcode : 0;
}

function meaningOf(result: number): Meaning {
  switch (result) {
    case SQLITE.busy:
    case SQLITE.locked:
      return {
        code: "store_unavailable",
        retryable: true,
        advice: "Another process uses this database; end it or wait.",
      };
    case SQLITE.full:
      return {
        code: "store_unavailable",
        retryable: true,
        advice: "The disk is full; nothing was written. Make room.",
      };
    case SQLITE.ioError:
      return {
        code: "store_unavailable",
        retryable: true,
        advice: "The disk did not take it; nothing was written. Check it.",
      };
    case SQLITE.noMemory:
      return { code: "store_unavailable", retryable: true, advice: "Memory ran out; nothing was written." };
    case SQLITE.permission:
    case SQLITE.readOnly:
    case SQLITE.cannotOpen:
      return {
        code: "store_unavailable",
        retryable: false,
        advice: "Check that the folder exists and may be written.",
      };
    case SQLITE.corrupt:
    case SQLITE.notADatabase:
      return { code: "store_corrupt", retryable: false, advice: RESTORE };
    case SQLITE.tooBig:
    case SQLITE.constraint:
    case SQLITE.mismatch:
      return { code: "commit_invalid", retryable: false, advice: "Nothing was written." };
    default:
      return { code: "store_unavailable", retryable: false, advice: "Nothing was written." };
  }
}

const SQLITE = {
  permission: 3,
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  constraint: 19,
  mismatch: 20,
  notADatabase: 26,
} as const;
