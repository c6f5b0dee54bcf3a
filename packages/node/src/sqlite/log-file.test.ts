import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GROW_BYTES, HEADER_BYTES, type LogFile, openLogFile, STORE_ID_BYTES } from "./log-file.ts";

const STORE = Buffer.from("store no");
const RECORD_HEAD_BYTES = 8;
const TEXTS = ["first", "the second, which is longer", "3", "é".repeat(40), "last"];

let folder: string;
let path: string;
let opened: LogFile[] = [];
beforeEach(() => {
  // In memory where there is such a place: files are made and damaged by the hundred.
  folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-log-file-"));
  path = join(folder, "log");
});
afterEach(() => {
  for (const log of opened) log.close();
  opened = [];
  rmSync(folder, { recursive: true, force: true });
});

describe("a file of records", () => {
  it("is made with its first record, and only its owner's to read", () => {
    const log = open();
    expect([log.first(), log.last(), log.bytes(), log.isDirty(), log.read()]).toEqual([0, 0, 0, false, []]);
    log.beginAnew(1);
    expect(existsSync(path)).toBe(false);
    log.append("a");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("has its records when it is opened again, and goes on behind them", () => {
    const texts = ["a", "two words", JSON.stringify([{ n: 1 }]), "x".repeat(5_000)];
    write(7, texts).close();
    const log = open();
    expect([log.first(), log.last(), log.read()]).toEqual([7, 10, texts]);
    log.append("another");
    expect([log.first(), log.last(), log.read()]).toEqual([7, 11, [...texts, "another"]]);
    log.close();
    expect(open().read()).toEqual([...texts, "another"]);
  });

  it("uses what its records are long, and nothing else", () => {
    const log = write(1, ["abc", "é"]);
    expect(log.bytes()).toBe(HEADER_BYTES + RECORD_HEAD_BYTES + 3 + RECORD_HEAD_BYTES + 2);
    expect(open().bytes()).toBe(log.bytes());
  });

  it.each([
    ["letters of every width", "aé€😀\u2028\u0000"],
    ["a mark that other readers swallow", "\ufeffa"],
    ["what only looks like a record", "ErgnLog1\u0001\u0000\u0000\u0000"],
  ])("keeps %s", (_, text) => {
    write(1, [text, text.repeat(1_000), "end"]).close();
    expect(open().read()).toEqual([text, text.repeat(1_000), "end"]);
  });

  it("keeps records on both sides of each bound of its memory", () => {
    // The memory that is there from the start, and the most that it keeps; the first has the header before it.
    const bounds = [GROW_BYTES, 1024 * 1024];
    const first = bounds.flatMap((bound) => [-1, 0, 1].map((by) => bound + by - HEADER_BYTES - RECORD_HEAD_BYTES));
    for (const [n, length] of first.entries()) {
      path = join(folder, String(n));
      const texts = [
        letters(length),
        "b",
        letters(length + HEADER_BYTES, "c"),
        "d",
        letters(3 * 1024 * 1024, "e"),
        "f",
      ];
      write(1, texts).close();
      expect(
        open()
          .read()
          .map((text, at) => text === texts[at]),
      ).toEqual(texts.map(() => true));
    }
  });

  it("grows in steps, and never is as long as what it holds", () => {
    const log = open();
    log.beginAnew(1);
    const sizes = new Set<number>();
    let steps = 0;
    while (log.bytes() < 3 * GROW_BYTES) {
      log.append("x".repeat(GROW_BYTES / 64));
      const { size } = statSync(path);
      sizes.add(size);
      expect(size % GROW_BYTES).toBe(0);
      expect(size).toBeGreaterThanOrEqual(log.bytes());
      steps += 1;
    }
    expect([...sizes].map((size) => size / GROW_BYTES)).toEqual([1, 2, 3, 4].slice(0, sizes.size));
    expect(sizes.size).toBeGreaterThanOrEqual(3);
    expect(steps).toBeGreaterThan(64);
  });

  it("is as long as one record at the bound of a step needs, and grows with the first byte more", () => {
    const fits = GROW_BYTES - HEADER_BYTES - 2 * RECORD_HEAD_BYTES - 1;
    const log = write(1, ["a", "x".repeat(fits)]);
    expect([log.bytes(), statSync(path).size]).toEqual([GROW_BYTES, GROW_BYTES]);
    log.append("b");
    expect(statSync(path).size).toBe(2 * GROW_BYTES);
    path = join(folder, "at once");
    write(1, ["x".repeat(GROW_BYTES - HEADER_BYTES - RECORD_HEAD_BYTES + 1)]);
    expect(statSync(path).size).toBe(2 * GROW_BYTES);
    log.close();
    path = join(folder, "log");
    expect(open().last()).toBe(3);
  });

  it("keeps its length when it is begun anew", () => {
    const log = write(1, ["x".repeat(3 * GROW_BYTES)]);
    const { size } = statSync(path);
    log.beginAnew(2);
    expect([log.first(), log.last(), log.bytes(), log.read()]).toEqual([0, 0, 0, []]);
    log.append("b");
    expect([log.first(), log.last(), log.read()]).toEqual([2, 2, ["b"]]);
    expect(statSync(path).size).toBe(size);
  });

  it("is on the disk after a sync, and dirty before", async () => {
    const log = write(1, ["a"]);
    expect(log.isDirty()).toBe(true);
    await log.sync();
    expect(log.isDirty()).toBe(false);
    log.append("b");
    expect(log.isDirty()).toBe(true);
    log.syncNow();
    expect(log.isDirty()).toBe(false);
    log.append("c");
    const syncing = log.sync();
    // What is appended meanwhile is not part of it.
    log.append("d");
    await syncing;
    expect(log.isDirty()).toBe(true);
  });

  it.each([
    ["another thread", (log: LogFile) => log.sync()],
    ["this one", (log: LogFile) => Promise.resolve(log.syncNow())],
  ])("is dirty when it is opened with records, until %s has synced it", async (_, sync) => {
    write(1, ["a"]).close();
    const log = open();
    // Whoever wrote it may have been killed before it synced.
    expect(log.isDirty()).toBe(true);
    await sync(log);
    expect([log.isDirty(), log.read()]).toEqual([false, ["a"]]);
    const again = open();
    again.beginAnew(2);
    expect(again.isDirty()).toBe(false);
  });

  it("is not dirty when it is opened without records", () => {
    expect(open().isDirty()).toBe(false);
    write(1, ["a"]).close();
    truncateSync(path, HEADER_BYTES + RECORD_HEAD_BYTES);
    expect(open().isDirty()).toBe(false);
    writeFileSync(path, "no records");
    expect(open().isDirty()).toBe(false);
  });

  it("is gone when it is removed, also when it never was there", () => {
    open().remove();
    const log = write(1, ["a"]);
    log.close();
    log.remove();
    expect(existsSync(path)).toBe(false);
    expect(open().read()).toEqual([]);
  });
});

describe("a file of records that was damaged", () => {
  const texts = TEXTS;

  it("has the whole records before every cut", () => {
    const whole = write(3, texts);
    const ends = endsOf(texts);
    for (let length = 0; length <= whole.bytes(); length += 1) {
      const copy = copied();
      truncateSync(copy, length);
      const count = ends.filter((end) => end <= length).length;
      const log = open(copy);
      expect([log.first(), log.last(), log.read()], `cut to ${String(length)} bytes`).toEqual(found(3, count));
      rmSync(copy);
    }
  });

  it("has the whole records before every bit that was flipped, and after it none", () => {
    const ends = endsOf(texts);
    const length = write(3, texts).bytes();
    for (let at = 0; at < length; at += 1) {
      const copy = copied();
      const bytes = readFileSync(copy);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
      writeFileSync(copy, bytes);
      const count = ends.filter((end) => end <= at).length;
      const log = open(copy);
      expect([log.first(), log.last(), log.read()], `a bit of byte ${String(at)}`).toEqual(found(3, count));
      rmSync(copy);
    }
  });

  it("goes on behind the damage, and what was there never comes back", () => {
    const ends = endsOf(texts);
    const length = write(3, texts).bytes();
    for (let at = HEADER_BYTES; at < length; at += 1) {
      const copy = copied();
      const bytes = readFileSync(copy);
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      writeFileSync(copy, bytes);
      const count = ends.filter((end) => end <= at).length;
      const log = open(copy);
      if (count === 0) log.beginAnew(3);
      // The very record that was lost, after which the lost ones fit: the most tempting case.
      log.append(texts[count] ?? "");
      log.close();
      expect(open(copy).read(), `damaged at byte ${String(at)}`).toEqual(texts.slice(0, count + 1));
      rmSync(copy);
    }
  });

  it("is left as it is by who only opens and reads it, and is cleared behind its records by the first one more", () => {
    const ends = endsOf(texts);
    const length = write(3, texts).bytes();
    for (let at = 0; at < length; at += 1) {
      const copy = copied();
      const bytes = readFileSync(copy);
      bytes[at] = (bytes[at] ?? 0) ^ 0xff;
      writeFileSync(copy, bytes);
      const log = open(copy);
      const count = ends.filter((end) => end <= at).length;
      expect(log.read()).toHaveLength(count);
      expect(readFileSync(copy).equals(bytes), `opened when damaged at byte ${String(at)}`).toBe(true);
      if (count === 0) log.beginAnew(3);
      log.append("n");
      const after = readFileSync(copy);
      const damaged = at < HEADER_BYTES ? 0 : (ends[count - 1] ?? HEADER_BYTES);
      const rest = after.subarray(Math.max(log.bytes(), damaged));
      expect(after.length).toBe(bytes.length);
      expect(
        rest.every((byte) => byte === 0),
        `cleared when damaged at byte ${String(at)}`,
      ).toBe(true);
      rmSync(copy);
    }
  });

  it("clears what is behind its records once, and not what it wrote there itself", () => {
    const end = write(1, ["a", "b", "c"]).bytes();
    const bytes = readFileSync(path);
    bytes[end - 1] = 0;
    writeFileSync(path, bytes);
    const log = open();
    const more = ["d", "e".repeat(5_000), "f"];
    for (const text of more) log.append(text);
    expect(log.read()).toEqual(["a", "b", ...more]);
    log.beginAnew(9);
    for (const text of more) log.append(text);
    expect(open().read()).toEqual(more);
  });

  it("has nothing of bytes that never were records", () => {
    const other = [Buffer.alloc(0), Buffer.alloc(10), Buffer.alloc(10_000), Buffer.alloc(10_000, 0xff)];
    for (const bytes of [...other, Buffer.from("SQLite format 3\0".repeat(100))]) {
      writeFileSync(path, bytes);
      const log = open();
      expect([log.first(), log.last(), log.read()]).toEqual([0, 0, []]);
      log.beginAnew(5);
      log.append("a");
      log.close();
      expect(open().read()).toEqual(["a"]);
      expect(open().last()).toBe(5);
      rmSync(path);
    }
  });

  it("believes no length that is beyond its end", () => {
    const log = write(1, ["a"]);
    const end = log.bytes();
    log.close();
    const bytes = readFileSync(path);
    bytes.writeUInt32LE(0xffff_ffff, end);
    writeFileSync(path, bytes);
    expect(open().read()).toEqual(["a"]);
  });

  it("says so when it no longer holds what was written to it", () => {
    const log = write(1, ["a", "b"]);
    const bytes = readFileSync(path);
    bytes[log.bytes() - 1] = 0;
    writeFileSync(path, bytes);
    expect(() => log.read()).toThrow(expect.objectContaining({ code: "store_corrupt" }));
  });
});

describe("a file of records that is used again", () => {
  it("has nothing of its earlier use, however much shorter the new one is", () => {
    const earlier = Array.from({ length: 20 }, (_, n) => `record ${String(n + 10)}`);
    const log = write(1, earlier);
    for (let count = 1; count <= earlier.length; count += 1) {
      log.beginAnew(100);
      // Of the same length as the ones before, so that those lie exactly where the next would.
      const texts = Array.from({ length: count }, (_, n) => `redone ${String(n + 10)}`);
      for (const text of texts) log.append(text);
      expect(log.read()).toEqual(texts);
      const again = open();
      expect([again.first(), again.last(), again.read()]).toEqual([100, 99 + count, texts]);
      again.close();
    }
  });

  it("has nothing of its earlier use although the new records are the same", () => {
    const texts = ["a", "b", "c", "d"];
    const log = write(1, texts);
    for (let count = 1; count < texts.length; count += 1) {
      log.beginAnew(1);
      for (const text of texts.slice(0, count)) log.append(text);
      expect(open(copied()).read()).toEqual(texts.slice(0, count));
    }
  });

  it("has its earlier use as long as no record of the new one was written", () => {
    const log = write(1, ["a", "b"]);
    log.beginAnew(3);
    expect(log.read()).toEqual([]);
    expect(open().read()).toEqual(["a", "b"]);
  });
});

describe("a file of records that was wiped", () => {
  it("has none, and has none when it is opened again", () => {
    const log = write(4, ["a", "b"]);
    const aside = log.wipe();
    expect([log.first(), log.last(), log.bytes(), log.read()]).toEqual([0, 0, 0, []]);
    expect(open().read()).toEqual([]);
    // Somebody may want to know what was in it.
    expect(open(aside).read()).toEqual(["a", "b"]);
  });

  it("can be wiped by who has only opened it, and used again", () => {
    write(4, ["a", "b"]).close();
    const log = open();
    log.wipe();
    log.beginAnew(9);
    log.append("c");
    log.close();
    const again = open();
    expect([again.first(), again.last(), again.read()]).toEqual([9, 9, ["c"]]);
  });
});

describe("a file of another store", () => {
  it("is refused, and left as it is", () => {
    write(1, ["a"]).close();
    const before = readFileSync(path);
    expect(() => openLogFile(path, Buffer.from("stranger"))).toThrow(
      expect.objectContaining({ code: "store_corrupt" }),
    );
    expect(() => openLogFile(path, Buffer.from("stranger"))).toThrow(path);
    expect(readFileSync(path)).toEqual(before);
    expect(open().read()).toEqual(["a"]);
  });

  it("has a name of its full length in every file", () => {
    expect(STORE.length).toBe(STORE_ID_BYTES);
    for (let at = 0; at < STORE_ID_BYTES; at += 1) {
      write(1, ["a"]).close();
      const other = Buffer.from(STORE);
      other[at] = (other[at] ?? 0) + 1;
      expect(() => openLogFile(path, other)).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    }
  });
});

describe("a write that fails", () => {
  it("adds nothing, and the next one goes where it would have gone", () => {
    // A limit on file sizes stands in for a full disk: writes past it fail, some after a part of them.
    const script = `
      import { openLogFile } from "./log-file.ts";
      process.on("SIGXFSZ", () => undefined);
      const log = openLogFile(${JSON.stringify(path)}, Buffer.from(${JSON.stringify(STORE.toString())}));
      log.beginAnew(1);
      log.append("a");
      const before = [log.first(), log.last(), log.bytes()];
      let errno;
      try {
        log.append("x".repeat(600 * 1024));
      } catch (error) {
        errno = error.code;
      }
      const after = [log.first(), log.last(), log.bytes()];
      const read = log.read();
      log.append("b");
      console.log(JSON.stringify({ errno, before, after, read, at: log.last() }));`;
    const child = spawnSync(
      "bash",
      ["-c", 'ulimit -S -f 400; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", script],
      { cwd: import.meta.dirname, encoding: "utf8" },
    );
    expect(JSON.parse(child.stdout)).toEqual({
      errno: "EFBIG",
      before: [1, 1, HEADER_BYTES + RECORD_HEAD_BYTES + 1],
      after: [1, 1, HEADER_BYTES + RECORD_HEAD_BYTES + 1],
      read: ["a"],
      at: 2,
    });
    expect(open().read()).toEqual(["a", "b"]);
  });

  it("keeps what there is when only the room beyond it is refused", () => {
    const script = `
      import { openLogFile } from "./log-file.ts";
      process.on("SIGXFSZ", () => undefined);
      const log = openLogFile(${JSON.stringify(path)}, Buffer.from(${JSON.stringify(STORE.toString())}));
      log.beginAnew(1);
      for (let n = 0; n < 30; n += 1) log.append("x".repeat(1024));
      log.syncNow();
      console.log(log.last());`;
    const child = spawnSync(
      "bash",
      ["-c", 'ulimit -S -f 40; exec "$0" "$@"', process.execPath, "--input-type=module", "-e", script],
      { cwd: import.meta.dirname, encoding: "utf8" },
    );
    expect(child.stdout).toBe("30\n");
    expect(open().read()).toEqual(Array.from({ length: 30 }, () => "x".repeat(1024)));
  });

  it("is told when the folder is not there, and works when it is", () => {
    path = join(folder, "missing", "log");
    const log = open();
    log.beginAnew(1);
    expect(() => log.append("a")).toThrow(expect.objectContaining({ code: "ENOENT" }));
    expect([log.first(), log.last(), log.bytes(), log.read()]).toEqual([0, 0, 0, []]);
  });

  it("is no record, although all but its last byte was written", () => {
    const log = write(1, ["a", "bc"]);
    const end = log.bytes();
    log.close();
    truncateSync(path, end - 1);
    expect(open(copied()).read()).toEqual(["a"]);
    appendFileSync(path, "c");
    expect(open().read()).toEqual(["a", "bc"]);
  });
});

let copies = 0;

function copied(): string {
  copies += 1;
  const copy = join(folder, `copy${String(copies)}`);
  copyFileSync(path, copy);
  return copy;
}

function open(at = path): LogFile {
  const log = openLogFile(at, STORE);
  opened.push(log);
  return log;
}

function write(first: number, texts: readonly string[]): LogFile {
  const log = open();
  log.beginAnew(first);
  for (const text of texts) log.append(text);
  return log;
}

/** What a file has of TEXTS that begin with number `first`, when only so many count. */
function found(first: number, count: number): unknown {
  return count === 0 ? [0, 0, []] : [first, first + count - 1, TEXTS.slice(0, count)];
}

function endsOf(texts: readonly string[]): readonly number[] {
  let end = HEADER_BYTES;
  return texts.map((text) => (end += RECORD_HEAD_BYTES + Buffer.byteLength(text)));
}

function letters(length: number, letter = "a"): string {
  return letter.repeat(length);
}
