import { type ErgonError, type Logger, storeError } from "@ergon/core";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { type LogFile, openLogFile } from "./log-file.ts";
import { createSharedSync, type SharedSync } from "./shared-sync.ts";
import { createSyncPace } from "./sync-pace.ts";

/*
 * The newest commits, in the order in which they were made, until the tables have them.
 *
 * L1  Records have numbers without gaps; the tables say up to which of them they have everything.
 * L2  Two files take turns. One is written anew only when the tables have on the disk all that it holds.
 * L3  When `sync` has ended, every record that was appended before is on the disk, in whichever file.
 * L4  What the loss of power takes is the newest records: one that has another missing before it does not count.
 */
export type CommitLog = {
  /** Why nothing can be appended now; undefined when it can. */
  readonly refusal: () => ErgonError | undefined;
  /** Throws when the disk does not take it; then nothing was added. */
  readonly append: (text: string) => void;
  /** Of the newest record. */
  readonly last: () => number;
  /** The records behind this one, oldest first. */
  readonly after: (number: number) => readonly string[];
  /** The tables have every record up to this one, but not on the disk yet. */
  readonly folded: (upTo: number) => void;
  readonly sync: SharedSync["sync"];
  /** Ends when everything is on the disk that can be. */
  readonly close: () => Promise<void>;
  /** For good, once the tables have everything on the disk. */
  readonly remove: () => void;
};

/** What one file may come to before nothing more is taken; a store whose tables can be written is far below it. */
export const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** When a file has come to this and the tables have all of it, the other one takes its turn. */
export const TURN_BYTES = 4 * 1024 * 1024;

export type CommitLogParts = {
  /** Of the database. */
  readonly path: string;
  readonly storeId: Uint8Array;
  /** The number of the last record that the tables have. */
  readonly folded: number;
  /** Has the disk take the tables as they are. */
  readonly syncTables: () => Promise<void>;
  readonly syncTablesNow: () => void;
  /** The disk is busy with the tables, so that a sync of the log would take long. */
  readonly isDiskBusy: () => boolean;
  /** The files cannot be trusted: puts all into the tables and has the disk take those. */
  readonly rescue: (cause: Error) => Promise<void>;
  readonly logger: Logger | undefined;
};

export const logFilesOf = (path: string): readonly [string, string] => [`${path}-log0`, `${path}-log1`];

export function openCommitLog(parts: CommitLogParts): CommitLog {
  const files = logFilesOf(parts.path).map((path) => openLogFile(path, parts.storeId));
  let { folded } = parts;
  /** The tables have on the disk what is in records up to this. */
  let safe = 0;
  let isSettling = false;
  /** Why the files cannot be trusted: what did not sync once may seem to the next time, and is not on the disk. */
  let distrust: ErgonError | undefined;
  const pace = createSyncPace(() => performance.now());
  if (files.some((file) => file.last() > 0)) takeUp();
  let [other, active] = files.toSorted((a, b) => a.last() - b.last()) as [LogFile, LogFile];

  /** A process has died here: tells what is still to be folded from what the tables have, and from what does not count. */
  function takeUp(): void {
    parts.syncTablesNow();
    safe = folded;
    let next = folded + 1;
    for (const file of files.toSorted((a, b) => a.first() - b.first())) {
      if (file.last() < next) {
        file.beginAnew(next);
      } else if (file.first() <= next) {
        next = file.last() + 1;
      } else {
        // The disk lost what was before it, so nobody was told of it either (L3, L4), if the files are those that there were.
        const aside = file.wipe();
        parts.logger?.warn({ path: parts.path, aside }, "Commits were dropped that follow on one which is not there.");
      }
    }
  }

  function last(): number {
    return Math.max(active.last(), other.last(), folded);
  }

  function takeTurns(): void {
    if (active.bytes() < TURN_BYTES || other.last() > safe) return;
    const next = last() + 1;
    [active, other] = [other, active];
    active.beginAnew(next);
  }

  async function settle(): Promise<void> {
    if (isSettling) return;
    isSettling = true;
    try {
      // Once more when they have got more meanwhile.
      while (safe < folded) {
        const upTo = folded;
        await parts.syncTables();
        safe = upTo;
      }
    } catch (thrown) {
      const error = fromFileSystem(thrown, "syncing the tables").toJSON();
      parts.logger?.warn({ error }, "The log of commits is kept until the tables are on the disk.");
    } finally {
      isSettling = false;
    }
  }

  async function flush(): Promise<void> {
    if (distrust === undefined) {
      try {
        return await syncFiles();
      } catch (thrown) {
        distrust = fromFileSystem(thrown, "syncing the store to the disk");
      }
    }
    await parts.rescue(distrust);
    safe = folded;
    // What came meanwhile follows on what the files may have lost: it is for the next rescue.
    if (last() !== folded) return;
    distrust = undefined;
    for (const file of files) file.beginAnew(folded + 1);
  }

  async function syncFiles(): Promise<void> {
    const dirty = [other, active].filter((file) => file.isDirty());
    const started = performance.now();
    if (!isSettling && !parts.isDiskBusy() && pace.isQuick()) {
      for (const file of dirty) file.syncNow();
      pace.took(performance.now() - started);
    } else {
      await Promise.all(dirty.map((file) => file.sync()));
    }
  }

  function refusal(): ErgonError | undefined {
    takeTurns();
    if (active.bytes() <= MAX_LOG_BYTES) return undefined;
    // Whoever is refused tries again, and the tables may have everything by then.
    void settle();
    return storeError(
      "store_unavailable",
      `The log beside ${parts.path} is full, since the database itself cannot be written. Make room on the disk.`,
      { retryable: true },
    );
  }

  const shared = createSharedSync(flush);
  if (files.some((file) => file.isDirty())) shared.grew();
  return {
    last,
    refusal,
    append: (text) => {
      const full = refusal();
      if (full !== undefined) throw full;
      if (active.last() === 0) active.beginAnew(last() + 1);
      try {
        active.append(text);
      } catch (thrown) {
        throw fromFileSystem(thrown, "writing a commit");
      }
      shared.grew();
    },
    after: (number) => [other, active].flatMap((file) => file.read().slice(Math.max(0, number + 1 - file.first()))),
    folded: (upTo) => {
      folded = upTo;
      if (active.bytes() >= TURN_BYTES) void settle();
    },
    sync: shared.sync,
    close: async () => {
      // What it cannot sync now, closing the database does for what the tables have.
      await shared.sync().catch(() => undefined);
      for (const file of [active, other]) file.close();
    },
    remove: () => {
      for (const file of [active, other]) file.remove();
    },
  };
}

/** For a database in memory: what there is to lose is lost with the process. */
export function createMemoryLog(): CommitLog {
  let texts: string[] = [];
  let last = 0;
  return {
    append: (text) => {
      texts.push(text);
      last += 1;
    },
    last: () => last,
    refusal: () => undefined,
    after: (number) => texts.slice(Math.max(0, texts.length - (last - number))),
    folded: (upTo) => {
      texts = texts.slice(Math.max(0, texts.length - (last - upTo)));
    },
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
    remove: () => undefined,
  };
}
