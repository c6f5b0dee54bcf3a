import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type ErgonError, isErgonError, type Logger } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { checkOwnDatabase } from "../../ownership/own-file.ts";
import { migrateFrom01 } from "../migrate-0.1/migrate.ts";
import { inTransaction, MEMORY, openDatabase } from "./open-database.ts";
import { createReader, type Preparer, type Reader } from "./reader.ts";
import { STATE_SCHEMA } from "./schema.ts";
import { createSharedSync } from "./shared-sync.ts";
import { fromSqlite, isCorruption, isIoFailure } from "./sqlite-errors.ts";
import { createSyncPace } from "./sync-pace.ts";
import { keepDamagedWal, keepRemovedWal } from "./wal-damage.ts";
import { openWalFile, type WalFile } from "./wal-file.ts";

/*
 * A database that one process owns, fenced by an epoch.
 *
 * F1  Each opening raises the epoch. A write transaction reads it first and writes nothing when it is not ours any more.
 * F2  Before anything is acknowledged, the database and its WAL are still the files that were opened, and `confirmOwner`
 *     agrees. POSIX locks are not trusted: any close of the file in this process drops them.
 * F3  A process that lost the database, or whose database is broken, acknowledges nothing more: every write and sync
 *     rejects with the same error, and `onFatal` is called once.
 * F4  When `sync` has ended, everything written before it is on the disk. A WAL whose sync failed is not trusted again
 *     before a checkpoint has moved it into the database.
 */
export type OwnedDatabase = Reader &
  Preparer & {
    readonly path: string;
    /** Higher with each opening (F1). */
    readonly epoch: number;
    readonly run: (sql: string, ...values: readonly SQLInputValue[]) => void;
    /** One transaction, acknowledged when it returns. `doing` is for messages. */
    readonly write: <T>(doing: string, work: () => T) => T;
    /** What a read throws becomes a store's error; damage is remembered. */
    readonly read: <T>(doing: string, work: () => T | Promise<T>) => Promise<T>;
    readonly sync: () => Promise<void>;
    /** What is wrong with the store now; tries again to write after a failure. */
    readonly health: () => ErgonError | undefined;
    readonly stop: (error: ErgonError) => void;
    /** Reads the whole file and names what is damaged. Slow: for `doctor`, not for opening. */
    readonly verify: () => readonly string[];
    readonly isOpen: () => boolean;
    readonly close: () => Promise<void>;
  };

export type OwnedDatabaseOptions = {
  /** A file, or ":memory:". */
  readonly path: string;
  readonly logger?: Logger | undefined;
  readonly checkpointPages?: number | undefined;
  /** Throws when this process no longer owns the data folder. Called before each acknowledgement: it must be quick. */
  readonly confirmOwner?: (() => void) | undefined;
  /** Called once, when nothing more will be acknowledged. */
  readonly onFatal?: ((error: ErgonError) => void) | undefined;
};

/** A disk that refuses every write for so long has failed. */
export const IO_GRACE_MS = 30_000;

export function openOwnedDatabase(options: OwnedDatabaseOptions): OwnedDatabase {
  const { path, logger, confirmOwner, onFatal } = options;
  const { db, epoch, wal } = openAsOwner(options);
  const { all } = createReader(db);
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const selectEpoch = db.prepare("SELECT epoch FROM owner");
  const touch = db.prepare("UPDATE owner SET epoch = ?");
  const pace = createSyncPace(() => performance.now());
  const shared = createSharedSync(flush);
  // What a killed process left in the WAL may not be on the disk.
  shared.grew();
  let fatal: ErgonError | undefined;
  let damage: ErgonError | undefined;
  let failing: { readonly error: ErgonError; readonly since: number } | undefined;
  /** Why the WAL is not trusted. */
  let syncFailure: unknown;

  function checkEpoch(): void {
    const found = selectEpoch.get()?.["epoch"];
    if (found !== epoch) lose(`its epoch is ${String(found)}, this process had ${String(epoch)}`);
  }

  /** The folder's owner knows better who has it now. */
  function lose(how: string): never {
    confirmOwner?.();
    throw lost(path, how);
  }

  /** Frames in a WAL that belongs to another file would damage that one. */
  function checkFiles(): void {
    if (wal === undefined || wal.isInPlace()) return;
    let kept: string | undefined;
    try {
      // Another owner's end has moved the WAL into the database. Without one, this may be all there is of the newest commits.
      confirmOwner?.();
      if (wal.isTakenAway()) kept = keepRemovedWal(path, wal.bytes());
    } catch (thrown) {
      throw isErgonError(thrown) ? thrown : lost(path, "its files were replaced; the WAL could not be kept", thrown);
    } finally {
      // Closing must not move what it holds over what others have written since.
      wal.discard();
    }
    throw kept === undefined ? lost(path, "its files were replaced") : removed(path, kept);
  }

  function confirm(): void {
    checkFiles();
    try {
      confirmOwner?.();
    } catch (thrown) {
      throw isErgonError(thrown) ? thrown : lost(path, "the owner could not be confirmed", thrown);
    }
  }

  function checkRunning(): void {
    if (fatal !== undefined) throw fatal;
  }

  function write<T>(doing: string, work: () => T): T {
    checkRunning();
    try {
      checkFiles();
      begin.run();
      checkEpoch();
      const result = work();
      commit.run();
      shared.grew();
      confirm();
      failing = undefined;
      return result;
    } catch (thrown) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw noted(thrown, doing);
    }
  }

  function noted(thrown: unknown, doing: string): ErgonError {
    const error = fromSqlite(thrown, doing);
    if (error.code === "ownership_lost") stop(error);
    else if (error.code === "store_corrupt") noteDamage(error);
    else if (error.code === "store_unavailable") {
      failing = { error, since: failing?.since ?? performance.now() };
      if (isIoFailure(error) && performance.now() - failing.since > IO_GRACE_MS) stop(error);
    }
    return fatal ?? error;
  }

  /**
   * Beside a row that does not read the store goes on; `/readyz` and the log say so. A file that SQLite calls broken has to be
   * restored from a copy, and that would lose what is acknowledged from now on.
   */
  function noteDamage(error: ErgonError): void {
    if (isCorruption(error)) return stop(error);
    if (damage !== undefined) return;
    damage = error;
    logger?.error({ path, error: error.toJSON() }, "The database is damaged. Run `ergon doctor`.");
  }

  function stop(error: ErgonError): void {
    if (fatal !== undefined) return;
    fatal = error;
    logger?.error({ path, error: error.toJSON() }, "The store stopped: nothing more is acknowledged.");
    onFatal?.(error);
  }

  async function flush(): Promise<void> {
    if (wal === undefined) return;
    if (syncFailure === undefined) {
      try {
        return await syncAtPace(wal);
      } catch (thrown) {
        logger?.warn({ path, error: thrown }, "The WAL did not sync; it is checkpointed instead.");
        syncFailure = thrown;
      }
    }
    try {
      checkpoint();
    } catch {
      // What was wrong first says more than that this did not help.
      throw syncFailure;
    }
    syncFailure = undefined;
  }

  async function syncAtPace({ sync, syncNow }: WalFile): Promise<void> {
    if (!pace.isQuick()) return sync();
    const started = performance.now();
    syncNow();
    pace.took(performance.now() - started);
  }

  /** Moves the WAL into the database and syncs that; throws when it cannot. */
  function checkpoint(): void {
    const [answer] = all<{ readonly busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)");
    if (answer?.busy !== 0) throw storeError("store_unavailable", `${path} is busy; try again.`, { retryable: true });
  }

  return {
    path,
    epoch,
    all,
    run: (sql, ...values) => void all(sql, ...values),
    prepare: (sql) => db.prepare(sql),
    write,
    read: async (doing, work) => {
      try {
        return await work();
      } catch (thrown) {
        const error = fromSqlite(thrown, doing);
        if (error.code === "store_corrupt") noteDamage(error);
        throw error;
      }
    },
    sync: async () => {
      checkRunning();
      try {
        await shared.sync();
        checkRunning();
        if (db.isOpen) confirm();
      } catch (thrown) {
        throw noted(thrown, "syncing the store to the disk");
      }
    },
    health: () => {
      try {
        if (fatal === undefined && failing !== undefined) {
          // A full disk may have room again once the WAL is in the database.
          checkpoint();
          write("trying to write again", () => touch.run(epoch));
        } else if (fatal === undefined) confirm();
      } catch (thrown) {
        return noted(thrown, "trying to write again");
      }
      return fatal ?? damage;
    },
    stop,
    verify: () =>
      all<{ readonly integrity_check: string }>("PRAGMA integrity_check(20)")
        .map((row) => row.integrity_check)
        .filter((line) => line !== "ok"),
    isOpen: () => db.isOpen,
    close: async () => {
      if (!db.isOpen) return;
      try {
        if (fatal === undefined) await shared.sync();
      } catch (thrown) {
        throw fromSqlite(thrown, "closing the store");
      } finally {
        // Closing checkpoints the WAL; what cannot be moved stays there and is read at the next start.
        if (db.isOpen) db.close();
        wal?.close();
      }
    },
  };
}

function openAsOwner(options: OwnedDatabaseOptions): {
  readonly db: DatabaseSync;
  readonly epoch: number;
  readonly wal: WalFile | undefined;
} {
  const { path, logger, checkpointPages } = options;
  let db: DatabaseSync | undefined;
  let isDamaged = false;
  try {
    if (path !== MEMORY) {
      checkOwnDatabase(path);
      isDamaged = keepDamagedWal(path, logger);
      migrateFrom01(path, logger);
    }
    db = openDatabase({ path, checkpointPages, schema: STATE_SCHEMA });
    if (isDamaged) db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const raise = db.prepare("UPDATE owner SET epoch = epoch + 1 RETURNING epoch");
    const epoch = inTransaction(db, () => Number(raise.get()?.["epoch"]));
    return { db, epoch, wal: path === MEMORY ? undefined : openWalFile(path) };
  } catch (thrown) {
    if (db?.isOpen === true) db.close();
    throw fromSqlite(thrown, `opening ${path}`);
  }
}

function lost(path: string, how: string, cause?: unknown): ErgonError {
  return storeError(
    "ownership_lost",
    `Another process took over ${path}: ${how}. This process stopped writing; work through the new owner.`,
    { details: { path }, cause },
  );
}

function removed(path: string, kept: string): ErgonError {
  return storeError(
    "ownership_lost",
    `${path}-wal was removed or replaced while this process used it. What it held is kept in ${kept}. Run \`ergon doctor\` before you start again.`,
    { details: { path, kept } },
  );
}
