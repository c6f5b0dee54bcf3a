import type { DatabaseSync } from "node:sqlite";
import { isErgonError, type Logger, storeError } from "@ergon/core";
import { lockFile } from "./file-lock.ts";
import { createFoldThread, type FoldThread } from "./fold-thread.ts";
import { openDatabase } from "./open-database.ts";
import { isBusy } from "./sqlite-errors.ts";

export type TablesOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly logger?: Logger;
  readonly checkpointPages?: number;
  readonly maxTailCommits?: number;
  /** The file of `fold-worker.ts`, as it was built. */
  readonly foldModule?: string;
};

export const MEMORY = ":memory:";

export type Tables = {
  readonly db: DatabaseSync;
  /** Where another thread may fold. */
  readonly thread: FoldThread | undefined;
  /** Lets others in, once the database is closed. */
  readonly release: () => void;
};

/**
 * The tables, for this process alone. A database that two threads open cannot have SQLite's own lock on itself; then the
 * lock is a file beside it.
 */
export function openTables(options: TablesOptions): Tables {
  const { path, foldModule: module, logger } = options;
  if (module === undefined || path === MEMORY) return openAlone(options);
  const unlock = lockFile(`${path}-lock`);
  if (unlock === undefined)
    throw storeError("store_unavailable", `Another process uses ${path}; end it or wait.`, { retryable: true });
  try {
    const db = openDatabase({ ...options, isShared: true });
    return { db, thread: createFoldThread({ module, path, logger }), release: unlock };
  } catch (thrown) {
    unlock();
    if (!isErgonError(thrown) || thrown.code !== "store_unavailable" || isBusy(thrown)) throw thrown;
    // Some places have no memory that threads could share, a folder on another machine for example.
    return openAlone(options);
  }
}

function openAlone(options: TablesOptions): Tables {
  return { db: openDatabase(options), thread: undefined, release: () => undefined };
}
