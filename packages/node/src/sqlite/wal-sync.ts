import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { errnoOf } from "../blobs/file-errors.ts";

/** Syncs what SQLite wrote without waiting for the disk (synchronous=NORMAL), beside whoever goes on. */
export type WalSync = {
  readonly sync: () => Promise<void>;
  readonly syncNow: () => void;
  readonly close: () => void;
};

/**
 * A transaction is in SQLite's own log when it has been written, and on the disk when that log is, exactly as SQLite
 * itself would do it with FULL. Checkpoints sync the log before they move it, so what is no longer in it is on the disk,
 * too. SQLite locks the database's file and not its log: opening the log takes no lock away.
 */
export function createWalSync(path: string): WalSync {
  let file: number | undefined;

  /** Undefined when nothing has been written yet. */
  function opened(): number | undefined {
    try {
      file ??= openSync(`${path}-wal`, "r+");
    } catch (thrown) {
      if (errnoOf(thrown) !== "ENOENT") throw thrown;
    }
    return file;
  }

  return {
    sync: () =>
      new Promise((resolve, reject) => {
        const wal = opened();
        if (wal === undefined) resolve();
        else fdatasync(wal, (error) => (error === null ? resolve() : reject(error)));
      }),
    syncNow: () => {
      const wal = opened();
      if (wal !== undefined) fdatasyncSync(wal);
    },
    close: () => {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}
