import {
  closeSync,
  constants,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from "node:fs";

/** SQLite's write-ahead log of an open database, as a file that this process syncs itself. */
export type WalFile = {
  /** What SQLite wrote with synchronous=NORMAL is on the disk afterwards, as with FULL, but the process goes on meanwhile. */
  readonly sync: () => Promise<void>;
  /** The same, and the process waits: sooner over on a quick disk. */
  readonly syncNow: () => void;
  /** False once another file has its name: then what this process writes is seen by nobody. */
  readonly isInPlace: () => boolean;
  /**
   * Empties a log that was taken away from its database: closing would move it over what others have written since. One
   * that was moved together with its database is left: it belongs to that, and SQLite does not touch a moved database.
   */
  readonly discard: () => void;
  /** The database is in its place, and its log is not. */
  readonly isTakenAway: () => boolean;
  /** What it holds, wherever it is now. */
  readonly bytes: () => Buffer;
  readonly close: () => void;
};

/**
 * Opens the log after a first write has made it. A checkpoint syncs the log before it moves it, so what is no longer in it
 * is on the disk, too. SQLite locks the database's file and not its log: closing the log here drops no lock.
 */
export function openWalFile(path: string): WalFile {
  const database = statSync(path);
  const file = openSync(`${path}-wal`, constants.O_RDWR | constants.O_NOFOLLOW);
  const wal = fstatSync(file);
  let isOpen = true;
  const isTakenAway = (): boolean => isSame(path, database) && !isSame(`${path}-wal`, wal);
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        fdatasync(file, (error) => (error === null ? resolve() : reject(error)));
      }),
    syncNow: () => fdatasyncSync(file),
    isInPlace: () => isSame(path, database) && isSame(`${path}-wal`, wal),
    discard: () => {
      if (isOpen && isTakenAway()) ftruncateSync(file);
    },
    isTakenAway,
    bytes: () => {
      const bytes = Buffer.alloc(fstatSync(file).size);
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
    },
    close: () => {
      if (isOpen) closeSync(file);
      isOpen = false;
    },
  };
}

function isSame(path: string, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.dev === dev && found.ino === ino;
}
