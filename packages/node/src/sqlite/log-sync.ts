import { closeSync, fdatasync, openSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { fromSqlite } from "./sqlite-errors.ts";
import { createSharedSync, type SharedSync } from "./shared-sync.ts";

export type LogSync = SharedSync & {
  /** Ends when what was asked for has been answered. */
  readonly close: () => Promise<void>;
};

/**
 * Syncs SQLite's write-ahead log behind the back of whoever writes it: a commit is in the log when SQLite has written it
 * without waiting (synchronous=NORMAL), and on the disk when the log is, exactly as SQLite itself would do it with FULL.
 * Nobody but the log's owner waits meanwhile. Checkpoints sync the log before they move it; so what is no longer in the
 * log is on the disk too. SQLite locks the database's file and not its log: opening the log takes no lock away.
 */
export function createLogSync(db: DatabaseSync, path: string): LogSync {
  if (path === ":memory:")
    return { grew: () => undefined, sync: () => Promise.resolve(), close: () => Promise.resolve() };
  let file: number | undefined;

  async function flush(): Promise<void> {
    try {
      file ??= openSync(`${path}-wal`, "r+");
      await onDisk(file);
    } catch (thrown) {
      rescue(thrown);
    }
  }

  /** A log that did not sync cannot be trusted to at the next attempt; the database can still take what it holds. */
  function rescue(cause: unknown): void {
    try {
      const [answer] = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").all();
      if (answer?.["busy"] === 0) return;
    } catch (thrown) {
      throw fromSqlite(thrown, "syncing the store to the disk");
    }
    throw fromSqlite(cause, "syncing the store to the disk");
  }

  const shared = createSharedSync(flush);
  return {
    ...shared,
    close: async () => {
      // What it cannot sync now, closing the database does.
      await shared.sync().catch(() => undefined);
      if (file !== undefined) closeSync(file);
    },
  };
}

function onDisk(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
  });
}
