import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkDatabase } from "./check-database.ts";
import { openOwnedDatabase } from "./owned-database.ts";
import { discardedIn } from "./wal-damage.ts";

const FREE = { isFree: true };
const COMMITS = 20;
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;
let root: string;
let path: string;
let made = 0;

/** A database as a killed process leaves it: the WAL has an older use behind the newer one, which has 20 commits. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "ergon-wal-damage-"));
  const live = join(root, "live.db");
  const database = openOwnedDatabase({ path: live, checkpointPages: 0 });
  const put = (n: number): void =>
    database.write("a test", () => database.run("INSERT INTO cursors VALUES (?, 'ada', 1)", String(n)));
  for (let n = 0; n < 100; n += 1) put(-1 - n);
  database.all("PRAGMA wal_checkpoint(PASSIVE)");
  for (let n = 0; n < COMMITS; n += 1) put(n);
  path = join(root, "left.db");
  for (const suffix of ["", "-wal"]) copyFileSync(`${live}${suffix}`, `${path}${suffix}`);
  await database.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the WAL that a process left", () => {
  it("loses nothing when it is whole, whatever an earlier use left behind it", async () => {
    const wal = readFileSync(`${path}-wal`);
    expect(wal.length).toBeGreaterThan(HEADER_BYTES + 100 * FRAME_BYTES);
    expect(discardedIn(wal)).toBe(0);
    const { cursors, entries, problems } = await open(wal);
    expect([cursors, entries, problems]).toEqual([COMMITS, [], []]);
  });

  it.each([
    ["in its header", 20, 0],
    ["in its first frame", HEADER_BYTES + 500, 0],
    ["in a later one", HEADER_BYTES + FRAME_BYTES * 7 + 500, 7],
  ])("is kept when a bit %s is another one, and what it cost is said", async (_, at, kept) => {
    const wal = readFileSync(`${path}-wal`);
    wal.writeUInt8(wal.readUInt8(at) ^ 1, at);
    const { cursors, entries, copy, before, problems } = await open(wal);
    expect(before).toContainEqual(expect.stringContaining(`${String(COMMITS - kept)} transactions behind the damage`));
    expect(cursors).toBe(kept);
    expect(entries).toMatchObject([{ level: "warn", fields: { transactions: COMMITS - kept } }]);
    expect(readFileSync(copy).equals(wal)).toBe(true);
    expect(problems).toEqual([expect.stringContaining(copy)]);
  });

  it.each([512, 4_096])("is kept when its first %i bytes are zeros", async (zeros) => {
    const wal = readFileSync(`${path}-wal`).fill(0, 0, zeros);
    const { cursors, entries, copy, before } = await open(wal);
    const whole = Math.floor((COMMITS * FRAME_BYTES + HEADER_BYTES - zeros) / FRAME_BYTES);
    expect(before).toContainEqual(expect.stringContaining(`${String(whole)} transactions behind the damage`));
    expect(cursors).toBe(0);
    expect(entries).toMatchObject([{ level: "warn", fields: { transactions: whole } }]);
    expect(readFileSync(copy).equals(wal)).toBe(true);
  });

  it("is kept and said once, although the process that found it is killed, too", async () => {
    const wal = readFileSync(`${path}-wal`);
    const at = HEADER_BYTES + FRAME_BYTES * 7 + 500;
    wal.writeUInt8(wal.readUInt8(at) ^ 1, at);
    const folder = join(root, "twice");
    const [first, second] = ["first", "second"].map((name) => join(folder, name, "state.db")) as [string, string];
    for (const file of [first, second]) mkdirSync(dirname(file), { recursive: true });
    copyFileSync(path, first);
    writeFileSync(`${first}-wal`, wal);
    const killed = openOwnedDatabase({ path: first });
    killed.write("a test", () => killed.run("INSERT INTO cursors VALUES ('1000', 'ada', 1)"));
    for (const suffix of ["", "-wal"]) copyFileSync(`${first}${suffix}`, `${second}${suffix}`);
    await killed.close();
    const logger = createMemoryLogger();
    const next = openOwnedDatabase({ path: second, logger });
    expect(next.all("SELECT name FROM cursors WHERE name = '1000'")).toHaveLength(1);
    await next.close();
    expect(logger.entries()).toEqual([]);
    expect(readdirSync(dirname(second))).toEqual(["state.db"]);
  });

  it("is torn without a word where nothing whole was written", async () => {
    const wal = readFileSync(`${path}-wal`).subarray(0, HEADER_BYTES + FRAME_BYTES * 5 - 100);
    const { cursors, entries } = await open(wal);
    expect([cursors, entries]).toEqual([4, []]);
  });
});

async function open(wal: Buffer) {
  made += 1;
  const copied = join(root, `${String(made)}.db`);
  copyFileSync(path, copied);
  writeFileSync(`${copied}-wal`, wal);
  const before = checkDatabase(copied, FREE);
  const logger = createMemoryLogger();
  const database = openOwnedDatabase({ path: copied, logger });
  const [row] = database.all<{ n: number }>("SELECT count(*) AS n FROM cursors WHERE CAST(name AS INTEGER) >= 0");
  await database.close();
  const problems = checkDatabase(copied, FREE);
  return { cursors: row?.n, entries: logger.entries(), copy: `${copied}-wal.damaged`, before, problems };
}
