import fs, {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createMemoryLogger } from "@ergon/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type CommitLog,
  type CommitLogParts,
  createMemoryLog,
  logFilesOf,
  MAX_LOG_BYTES,
  openCommitLog,
  TURN_BYTES,
} from "./commit-log.ts";
import { GROW_BYTES, HEADER_BYTES, openLogFile } from "./log-file.ts";

const STORE = Buffer.from("store no");
const RECORD_HEAD_BYTES = 8;

let home: string;
let folder: string;
let path: string;
let opened: CommitLog[] = [];
beforeEach(() => {
  home = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-commit-log-"));
  folder = join(home, "data");
  mkdirSync(folder);
  path = join(folder, "state.db");
});
afterEach(async () => {
  for (const log of opened) await log.close();
  opened = [];
  rmSync(home, { recursive: true, force: true });
});

describe("the log of commits", () => {
  it("numbers its records without gaps, behind what the tables have (L1)", () => {
    const log = open({ folded: 41 });
    expect(log.last()).toBe(41);
    for (const [n, text] of ["a", "b", "c"].entries()) {
      log.append(text);
      expect(log.last()).toBe(42 + n);
    }
    expect(log.after(41)).toEqual(["a", "b", "c"]);
    expect(log.after(42)).toEqual(["b", "c"]);
    expect(log.after(44)).toEqual([]);
    expect(log.after(100)).toEqual([]);
  });

  it("gives what the tables do not have to the next process, and goes on behind it", () => {
    const first = open();
    for (const text of ["a", "b", "c"]) first.append(text);
    const second = open({ folded: 1 });
    expect([second.last(), second.after(1)]).toEqual([3, ["b", "c"]]);
    second.append("d");
    expect(second.after(1)).toEqual(["b", "c", "d"]);
    const third = open({ folded: 4 });
    expect([third.last(), third.after(4)]).toEqual([4, []]);
    third.append("e");
    expect([third.last(), third.after(4)]).toEqual([5, ["e"]]);
    expect(open({ folded: 4 }).after(4)).toEqual(["e"]);
  });

  it("gives nothing that the tables have, also when they have more than it", () => {
    const log = open();
    for (const text of ["a", "b"]) log.append(text);
    const later = open({ folded: 7 });
    expect([later.last(), later.after(7)]).toEqual([7, []]);
    later.append("h");
    expect([later.last(), later.after(7)]).toEqual([8, ["h"]]);
    expect(open({ folded: 7 }).after(7)).toEqual(["h"]);
  });

  it("has the tables synced before it takes up what a process left, and only then", () => {
    let synced = 0;
    const syncTablesNow = (): void => void (synced += 1);
    open({ syncTablesNow }).append("a");
    expect(synced).toBe(0);
    open({ syncTablesNow });
    expect(synced).toBe(1);
  });

  it("is gone when it is removed", async () => {
    const log = open();
    log.append("a");
    await log.close();
    log.remove();
    expect(logFilesOf(path).map((file) => existsSync(file))).toEqual([false, false]);
    expect(open({ folded: 1 }).last()).toBe(1);
  });

  it("refuses a record that the file system does not take, and goes on where it was", () => {
    const log = open();
    log.append("a");
    const none = openCommitLog({ ...parts(), path: join(folder, "missing", "state.db") });
    expect(() => none.append("a")).toThrow(expect.objectContaining({ code: "store_unavailable" }));
    expect([none.last(), none.after(0)]).toEqual([0, []]);
    mkdirSync(join(folder, "missing"));
    none.append("b");
    expect([none.last(), none.after(0)]).toEqual([1, ["b"]]);
    opened.push(none);
  });
});

describe("the two files of the log", () => {
  it("take turns as soon as one has come to its bound and the other holds nothing, and not before", () => {
    const log = open();
    fill(log, TURN_BYTES - 1);
    log.append("a");
    // One file had it all, and the other one is not there yet.
    expect(used()).toHaveLength(1);
    // It has come to its bound; that the tables have none of it does not matter.
    log.append("b");
    expect(firsts()).toEqual([1, 4]);
    expect(log.after(2)).toEqual(["a", "b"]);
    log.append("c");
    expect([log.last(), firsts(), log.after(3)]).toEqual([5, [1, 4], ["b", "c"]]);
    expect(open().after(0)).toHaveLength(5);
  });

  it.each([true, false])("take turns at exactly the bound, with the tables having it: %s", (isFolded) => {
    for (const [n, bytes] of [TURN_BYTES - 1, TURN_BYTES].entries()) {
      path = join(folder, `${String(n)}.db`);
      const log = open();
      fill(log, bytes);
      if (isFolded) log.folded(log.last());
      log.append("a");
      expect(firsts()).toEqual([1, 3].slice(0, n + 1));
    }
  });

  it("have the tables synced once the active one has come to its bound, and not before", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES - 1);
    log.folded(1);
    log.folded(2);
    expect(disk.begun()).toBe(0);
    log.append("a");
    log.folded(2);
    expect(disk.begun()).toBe(1);
    // One at a time, and once more when they have got more meanwhile.
    log.folded(3);
    expect(disk.begun()).toBe(1);
    await disk.end();
    expect([disk.begun(), disk.isUnderWay()]).toEqual([2, true]);
    await disk.end();
    log.folded(3);
    expect([disk.begun(), disk.isUnderWay()]).toEqual([2, false]);
    // Now the other one is active, which has next to nothing.
    log.append("b");
    log.folded(4);
    expect([firsts(), disk.begun()]).toEqual([[1, 4], 2]);
  });

  it("stay as they are while the tables have not on the disk what the other one holds (L2)", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    fill(log, TURN_BYTES);
    fill(log, 1_000);
    log.folded(log.last());
    log.append("still there");
    expect(disk.begun()).toBe(1);
    // Neither file was begun anew: all is there, from the first record on.
    expect(firsts()).toEqual([1, 3]);
    expect(log.after(4)).toHaveLength(3);
    expect(open().after(0)).toHaveLength(7);
    await disk.end();
    log.append("now");
    expect(firsts()).toEqual([3, 8]);
    expect(log.after(6)).toEqual(["still there", "now"]);
    expect(open({ folded: 6 }).after(6)).toEqual(["still there", "now"]);
  });

  it.each([
    [1, [1, 3]],
    [2, [3, 5]],
  ])("stay as they are until the tables have the last record of the other one, with %i of 2", async (has, expected) => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    fill(log, TURN_BYTES);
    log.folded(has);
    await disk.end();
    log.append("a");
    expect(firsts()).toEqual(expected);
    expect(open({ folded: has }).after(has)).toHaveLength(5 - has);
  });

  it("count as safe only what the tables had when their sync began", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    fill(log, TURN_BYTES);
    log.folded(1);
    // In flight is a sync that began before this.
    log.folded(4);
    await disk.end();
    log.append("a");
    expect(firsts()).toEqual([1, 3]);
    expect(open({ folded: 1 }).after(1)).toHaveLength(4);
    // The one that began after it.
    await disk.end();
    log.append("b");
    expect(firsts()).toEqual([3, 6]);
  });

  it("are written anew again and again, each when the tables have what it holds", async () => {
    const log = open();
    for (let turn = 1; turn <= 5; turn += 1) {
      fill(log, TURN_BYTES);
      expect(firsts()).toEqual([2 * turn - 3, 2 * turn - 1].slice(turn === 1 ? 1 : 0));
      log.folded(log.last());
      await setTimeout(1);
    }
    expect(open({ folded: 8 }).after(8)).toHaveLength(2);
    // Never more than the bound, and what a file grows by.
    for (const file of used()) expect(statSync(file).size).toBeLessThanOrEqual(TURN_BYTES + GROW_BYTES);
  });

  it("are kept when the tables do not sync, and a warning says so", async () => {
    const logger = createMemoryLogger();
    const log = open({ logger, syncTables: () => Promise.reject(new Error("the disk is gone")) });
    for (let n = 0; n < 4; n += 1) {
      fill(log, TURN_BYTES);
      log.folded(log.last());
      await setTimeout(1);
    }
    expect(firsts()).toEqual([1, 3]);
    expect(open().after(0)).toHaveLength(log.last());
    expect(logger.entries().map(({ level }) => level)).toEqual(["warn", "warn", "warn", "warn"]);
    expect(logger.entries()[0]?.message).toContain("kept until the tables are on the disk");
    expect(logger.entries()[0]).toMatchObject({ fields: { error: { code: "store_unavailable" } } });
  });

  it("are both given, the older one first", () => {
    const log = open({ syncTables: slowTables().sync });
    fill(log, TURN_BYTES);
    const turned = log.last();
    log.append("a");
    log.append("b");
    for (const either of [log, open({ folded: turned - 1 })]) {
      expect(either.last()).toBe(turned + 2);
      expect(either.after(turned - 1).slice(1)).toEqual(["a", "b"]);
      expect(either.after(turned - 1)).toHaveLength(3);
      expect(either.after(turned)).toEqual(["a", "b"]);
      expect(either.after(turned + 1)).toEqual(["b"]);
    }
  });
});

describe("a log that is full", () => {
  it("refuses past its bound, to be retried, and takes more once the tables have it", async () => {
    const log = open();
    fill(log, TURN_BYTES);
    fill(log, MAX_LOG_BYTES);
    log.append("the last one");
    const last = log.last();
    for (let n = 0; n < 2; n += 1) {
      expect(() => log.append("too much")).toThrow(
        expect.objectContaining({ code: "store_unavailable", retryable: true }),
      );
    }
    expect([log.last(), firsts()]).toEqual([last, [1, 3]]);
    expect(open().after(0)).toHaveLength(last);
    // Both files, and what each may have beyond its records.
    const bytes = used().reduce((sum, file) => sum + statSync(file).size, 0);
    expect(bytes).toBeLessThanOrEqual(TURN_BYTES + MAX_LOG_BYTES + 2 * GROW_BYTES);
    log.folded(last);
    await setTimeout(1);
    log.append("more");
    expect([log.last(), log.after(last), firsts()]).toEqual([last + 1, ["more"], [3, last + 1]]);
  });

  it("is full with the first byte past its bound", () => {
    const log = open();
    fill(log, TURN_BYTES);
    fill(log, MAX_LOG_BYTES + 1);
    expect(() => log.append("too much")).toThrow(expect.objectContaining({ code: "store_unavailable" }));
  });

  it("takes more once the tables have synced what they had got while that was under way", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    log.folded(log.last());
    // The other file is not safe yet: this one goes on beyond its bound, although each record was folded at once.
    fill(log, MAX_LOG_BYTES + 1);
    log.folded(log.last());
    const last = log.last();
    expect(() => log.append("too early")).toThrow(expect.objectContaining({ code: "store_unavailable" }));
    while (disk.isUnderWay()) await disk.end();
    // There is nothing left to fold, so nobody will say again that it was.
    log.append("more");
    expect([log.last(), log.after(last)]).toEqual([last + 1, ["more"]]);
  });

  it("takes more once the tables have got all while they synced too little", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    log.folded(log.last() - 1);
    fill(log, MAX_LOG_BYTES + 1);
    log.folded(log.last());
    expect(await takenIn(log, disk)).toEqual(["more"]);
  });

  it("takes more once the tables sync again after they did not, although they had got all by then", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    fill(log, MAX_LOG_BYTES + 1);
    log.folded(log.last());
    await disk.fail();
    expect(await takenIn(log, disk)).toEqual(["more"]);
  });

  /** Who was refused tries again; there is nothing left to fold, so nobody will say again that it was. */
  async function takenIn(log: CommitLog, disk: ReturnType<typeof slowTables>): Promise<readonly string[]> {
    const last = log.last();
    for (let n = 0; n < 5 && log.last() === last; n += 1) {
      try {
        log.append("more");
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: "store_unavailable", retryable: true });
        await disk.end();
      }
    }
    return log.after(last);
  }
});

describe("a log that lost records with the power", () => {
  it("has nothing behind the gap, says so, and never finds it again (L4)", () => {
    const { files, turned } = twoFiles();
    const [older] = files;
    // The last record of the older file is gone; those of the newer one follow it.
    damageEnd(older);
    const logger = createMemoryLogger();
    const log = open({ logger });
    expect(log.last()).toBe(turned - 1);
    expect(log.after(0)).toHaveLength(turned - 1);
    expect(logger.entries()).toMatchObject([
      { level: "warn", message: expect.stringContaining("dropped that follow on one which is not there") },
    ]);
    // The numbers of the lost ones are given again: the wiped ones would follow these.
    for (const text of ["new a", "new b", "new c"]) {
      log.append(text);
      const again = createMemoryLogger();
      expect(open({ logger: again }).last()).toBe(log.last());
      expect(again.entries()).toEqual([]);
    }
    expect(open({ folded: turned - 1 }).after(turned - 1)).toEqual(["new a", "new b", "new c"]);
  });

  it("has nothing when the first record behind the tables is gone", () => {
    const { files, turned } = twoFiles();
    writeFileSync(files[0], "");
    const logger = createMemoryLogger();
    const log = open({ logger, folded: turned - 1 });
    expect([log.last(), log.after(turned - 1)]).toEqual([turned - 1, []]);
    expect(logger.entries()).toHaveLength(1);
  });

  it("has all when the tables have what the older file lost", () => {
    const { files, turned } = twoFiles();
    writeFileSync(files[0], "");
    const logger = createMemoryLogger();
    const log = open({ logger, folded: turned });
    expect([log.last(), log.after(turned)]).toEqual([turned + 2, ["a", "b"]]);
    expect(logger.entries()).toEqual([]);
  });

  it("has all of the older file when the newer one lost its beginning", () => {
    const { files, turned } = twoFiles();
    writeFileSync(files[1], "");
    const logger = createMemoryLogger();
    const log = open({ logger });
    expect([log.last(), log.after(turned - 1).length]).toEqual([turned, 1]);
    log.append("c");
    expect(log.after(turned)).toEqual(["c"]);
    expect(logger.entries()).toEqual([]);
  });

  /** As a process leaves them that was killed while the tables were not synced yet; the older one first. */
  function twoFiles(): { readonly files: readonly [string, string]; readonly turned: number } {
    const log = open({ syncTables: slowTables().sync });
    fill(log, TURN_BYTES);
    log.folded(log.last());
    const turned = log.last();
    log.append("a");
    log.append("b");
    // Under another name, since the one that wrote it still has it open.
    const copy = join(folder, "copy.db");
    const files = logFilesOf(path).toSorted((a, b) => firstOf(a) - firstOf(b));
    for (const file of files) copyFileSync(file, file.replace(path, copy));
    const copies = files.map((file) => file.replace(path, copy)) as [string, string];
    path = copy;
    return { files: copies, turned };
  }
});

describe("syncing the log", () => {
  it("is done at once when nothing was appended", async () => {
    await open().sync();
    expect(used()).toEqual([]);
  });

  it("is done at once on a quick disk, and once for what was appended together", async () => {
    const log = open();
    log.append("a");
    log.append("b");
    expect(await syncsOf(() => Promise.all([log.sync(), log.sync()]))).toEqual({ here: 1, elsewhere: 0 });
    expect(await syncsOf(() => log.sync())).toEqual({ here: 0, elsewhere: 0 });
  });

  it("is done by another thread while the disk is busy with the tables", async () => {
    let isDiskBusy = true;
    const log = open({ isDiskBusy: () => isDiskBusy });
    for (const text of ["a", "b"]) {
      log.append(text);
      expect(await syncsOf(() => log.sync())).toEqual({ here: 0, elsewhere: 1 });
    }
    isDiskBusy = false;
    log.append("c");
    expect(await syncsOf(() => log.sync())).toEqual({ here: 1, elsewhere: 0 });
  });

  it("is done by another thread while the tables are synced for a turn, whichever files it takes", async () => {
    const disk = slowTables();
    const log = open({ syncTables: disk.sync });
    fill(log, TURN_BYTES);
    log.folded(log.last());
    log.append("a");
    expect(await syncsOf(() => log.sync())).toEqual({ here: 0, elsewhere: 2 });
    await disk.end();
    log.append("b");
    expect(await syncsOf(() => log.sync())).toEqual({ here: 1, elsewhere: 0 });
  });

  it("is done by another thread for a while when one has taken long", async () => {
    const log = open();
    log.append("a");
    expect(await syncsOf(() => log.sync(), 50)).toEqual({ here: 1, elsewhere: 0 });
    log.append("b");
    expect(await syncsOf(() => log.sync())).toEqual({ here: 0, elsewhere: 1 });
  });

  it.each([true, false])("takes what a killed process left, once, with a busy disk: %s", async (isBusy) => {
    open().append("a");
    const log = open({ isDiskBusy: () => isBusy });
    const once = { here: isBusy ? 0 : 1, elsewhere: isBusy ? 1 : 0 };
    expect(await syncsOf(() => log.sync())).toEqual(once);
    expect(await syncsOf(() => log.sync())).toEqual({ here: 0, elsewhere: 0 });
    const other = open({ isDiskBusy: () => isBusy });
    expect(await syncsOf(() => other.close())).toEqual(once);
  });

  it("takes both files that a killed process left, and neither when the tables have them", async () => {
    const killed = open();
    fill(killed, TURN_BYTES);
    killed.append("a");
    expect(await syncsOf(() => open().sync())).toEqual({ here: 2, elsewhere: 0 });
    expect(await syncsOf(() => open({ folded: 2 }).sync())).toEqual({ here: 1, elsewhere: 0 });
    expect(await syncsOf(() => open({ folded: 3 }).sync())).toEqual({ here: 0, elsewhere: 0 });
  });

  it.each([true, false])("that fails puts all into the tables, and both files begin anew, busy: %s", async (isBusy) => {
    const causes: Error[] = [];
    const log: CommitLog = open({
      isDiskBusy: () => isBusy,
      rescue: async (cause) => {
        causes.push(cause);
        await setTimeout(1);
        log.folded(log.last());
      },
    });
    log.append("a");
    log.append("b");
    await whileMoved(() => log.sync());
    expect(causes).toMatchObject([{ code: "store_unavailable" }]);
    expect([log.last(), log.after(0)]).toEqual([2, []]);
    log.append("c");
    expect([log.last(), log.after(2)]).toEqual([3, ["c"]]);
    await log.sync();
    expect(causes).toHaveLength(1);
    expect(firsts()).toEqual([3]);
    expect(open({ folded: 2 }).after(2)).toEqual(["c"]);
  });

  it("that fails is over only when the rescue is", async () => {
    const rescue = Promise.withResolvers<void>();
    const log: CommitLog = open({ rescue: () => rescue.promise });
    log.append("a");
    let isOver = false;
    await whileMoved(async () => {
      const syncing = log.sync().then(() => (isOver = true));
      await setTimeout(20);
      expect(isOver).toBe(false);
      log.folded(1);
      rescue.resolve();
      await syncing;
    });
    expect(isOver).toBe(true);
  });

  it("that fails lets the other file be written anew, since the tables have on the disk what it holds", async () => {
    const log: CommitLog = open({
      syncTables: () => Promise.reject(new Error("not by these means")),
      rescue: () => Promise.resolve(log.folded(log.last())),
    });
    fill(log, TURN_BYTES);
    log.append("a");
    await whileMoved(() => log.sync());
    expect([log.last(), log.after(0)]).toEqual([3, []]);
    fill(log, TURN_BYTES);
    expect(firsts()).toEqual([1, 4]);
    fill(log, TURN_BYTES);
    expect(firsts()).toEqual([4, 6]);
    expect(open({ folded: 3 }).after(3)).toHaveLength(4);
  });

  it("keeps what the rescue did not fold", async () => {
    const log = open({ rescue: () => Promise.resolve() });
    log.append("a");
    await whileMoved(() => log.sync());
    expect([log.last(), log.after(0)]).toEqual([1, ["a"]]);
  });

  it("keeps what was appended while it was rescued, and what the tables have by then makes room", async () => {
    const log: CommitLog = open({
      syncTables: () => Promise.reject(new Error("not by these means")),
      rescue: async () => {
        log.folded(log.last());
        log.append("b");
      },
    });
    fill(log, TURN_BYTES);
    log.append("a");
    await whileMoved(() => log.sync());
    expect([log.last(), log.after(3), firsts()]).toEqual([4, ["b"], [1, 3]]);
    fill(log, TURN_BYTES);
    log.append("c");
    expect(firsts()).toEqual([3, 7]);
    expect(open({ folded: 3 }).after(3)).toEqual(["b", ...log.after(4)]);
  });

  it("that cannot be rescued says so, and is not trusted again before it was", async () => {
    let canBe = false;
    let rescues = 0;
    const log: CommitLog = open({
      rescue: async (cause) => {
        rescues += 1;
        if (!canBe) throw cause;
        log.folded(log.last());
      },
    });
    log.append("a");
    await whileMoved(() => expect(log.sync()).rejects.toMatchObject({ code: "store_unavailable" }));
    expect([log.last(), log.after(0)]).toEqual([1, ["a"]]);
    // A second sync would seem to succeed, although the disk has not what the first one could not write.
    await expect(log.sync()).rejects.toMatchObject({ code: "store_unavailable" });
    canBe = true;
    await log.sync();
    expect([rescues, log.after(1)]).toEqual([3, []]);
    log.append("b");
    await log.sync();
    expect(rescues).toBe(3);
    expect(open({ folded: 1 }).after(1)).toEqual(["b"]);
  });

  it("that fails at the end does not keep the log from being closed", async () => {
    const log = open({ rescue: (cause) => Promise.reject(cause) });
    log.append("a");
    await whileMoved(() => log.close());
    expect(open().after(0)).toEqual(["a"]);
  });

  /** The folder that names the files is not where the sync looks for it. */
  async function whileMoved(work: () => Promise<unknown>): Promise<void> {
    renameSync(folder, `${folder} away`);
    try {
      await work();
    } finally {
      renameSync(`${folder} away`, folder);
    }
  }
});

describe("a log in memory", () => {
  it("answers as one on the disk does", async () => {
    const logs = [createMemoryLog(), open()];
    const seen: unknown[][] = [[], []];
    for (const [n, log] of logs.entries()) {
      const look = (): void => void seen[n]?.push([log.last(), ...[0, 1, 2, 3, 9].map((at) => log.after(at))]);
      look();
      for (const text of ["a", "b", "c"]) {
        log.append(text);
        look();
      }
      await log.sync();
      look();
      await log.close();
      log.remove();
    }
    expect(seen[0]).toEqual(seen[1]);
  });

  it("keeps nothing that the tables have", () => {
    const log = createMemoryLog();
    for (const text of ["a", "b", "c"]) log.append(text);
    log.folded(2);
    expect([log.last(), log.after(2), log.after(0)]).toEqual([3, ["c"], ["c"]]);
    log.append("d");
    expect([log.last(), log.after(2), log.after(3), log.after(4)]).toEqual([4, ["c", "d"], ["d"], []]);
    log.folded(4);
    expect([log.last(), log.after(4)]).toEqual([4, []]);
    log.append("e");
    expect([log.last(), log.after(4)]).toEqual([5, ["e"]]);
  });
});

function parts(more: Partial<CommitLogParts> = {}): CommitLogParts {
  return {
    path,
    storeId: STORE,
    folded: 0,
    syncTables: () => Promise.resolve(),
    syncTablesNow: () => undefined,
    isDiskBusy: () => false,
    rescue: (cause) => Promise.reject(cause),
    logger: undefined,
    ...more,
  };
}

function open(more: Partial<CommitLogParts> = {}): CommitLog {
  const log = openCommitLog(parts(more));
  opened.push(log);
  return log;
}

/** Two records; a file that begins with them comes to exactly so many bytes. */
function fill(log: CommitLog, bytes: number): void {
  const half = Math.floor(bytes / 2);
  log.append("x".repeat(half));
  log.append("y".repeat(bytes - half - HEADER_BYTES - 2 * RECORD_HEAD_BYTES));
}

/** Tables whose syncs end when the test says so. */
function slowTables() {
  let begun = 0;
  let under: PromiseWithResolvers<void> | undefined;
  return {
    sync: () => {
      begun += 1;
      under = Promise.withResolvers<void>();
      return under.promise;
    },
    begun: () => begun,
    isUnderWay: () => under !== undefined,
    end: async () => {
      under?.resolve();
      under = undefined;
      await setTimeout(1);
    },
    fail: async () => {
      under?.reject(new Error("the disk is gone"));
      under = undefined;
      await setTimeout(1);
    },
  };
}

/** How many syncs of files that takes, in this thread, which then stands still for so long, and in others. */
async function syncsOf(
  work: () => Promise<unknown>,
  ms = 0,
): Promise<{ readonly here: number; readonly elsewhere: number }> {
  const { fdatasync, fdatasyncSync } = fs;
  const count = { here: 0, elsewhere: 0 };
  fs.fdatasyncSync = (file) => {
    count.here += 1;
    fdatasyncSync(file);
    const until = performance.now() + ms;
    while (performance.now() < until);
  };
  fs.fdatasync = ((file: number, told: fs.NoParamCallback) => {
    count.elsewhere += 1;
    fdatasync(file, told);
  }) as typeof fdatasync;
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, { fdatasync, fdatasyncSync });
    syncBuiltinESMExports();
  }
  return count;
}

/** The files of the log that there are. */
function used(): readonly string[] {
  return logFilesOf(path).filter((file) => existsSync(file));
}

/** The numbers of their first records, in order. */
function firsts(): readonly number[] {
  return used()
    .map(firstOf)
    .toSorted((a, b) => a - b);
}

function firstOf(file: string): number {
  const log = openLogFile(file, STORE);
  log.close();
  return log.first();
}

/** The last record loses its last byte. */
function damageEnd(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.findLastIndex((byte) => byte !== 0)] = 0;
  writeFileSync(file, bytes);
}
