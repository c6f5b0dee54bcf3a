import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { createWalSync } from "./wal-sync.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-wal-"));
  path = join(folder, "state.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("syncing SQLite's own log", () => {
  it("leaves the database locked for its owner, also when it is over", async () => {
    const db = openDatabase({ path });
    const wal = createWalSync(path);
    db.exec("INSERT INTO cursors VALUES ('a', 'o', 1)");
    await wal.sync();
    wal.syncNow();
    expect(() => readCursors(path)).toThrow(/locked/);
    wal.close();
    expect(() => readCursors(path)).toThrow(/locked/);
    db.exec("INSERT INTO cursors VALUES ('b', 'o', 1)");
    db.close();
    expect(readCursors(path)).toHaveLength(2);
  });

  it("changes nothing in it", async () => {
    const db = openDatabase({ path });
    const wal = createWalSync(path);
    db.exec("INSERT INTO cursors VALUES ('a', 'o', 1)");
    const before = readFileSync(`${path}-wal`);
    expect(before.length).toBeGreaterThan(0);
    await wal.sync();
    wal.syncNow();
    expect(readFileSync(`${path}-wal`)).toEqual(before);
    wal.close();
    db.close();
  });

  it("goes on after a checkpoint has cut it", async () => {
    const db = openDatabase({ path });
    const wal = createWalSync(path);
    await wal.sync();
    db.exec("INSERT INTO cursors VALUES ('a', 'o', 1)");
    await wal.sync();
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(statSync(`${path}-wal`).size).toBe(0);
    await wal.sync();
    db.exec("INSERT INTO cursors VALUES ('b', 'o', 1)");
    await wal.sync();
    wal.syncNow();
    wal.close();
    db.close();
  });

  it("has nothing to do where there is none, and makes none", async () => {
    for (const none of [path, join(folder, "missing", "state.db"), ":memory:"]) {
      const wal = createWalSync(none);
      await wal.sync();
      wal.syncNow();
      wal.close();
      expect(existsSync(`${none}-wal`)).toBe(false);
    }
  });

  it("says so when it cannot be opened", async () => {
    mkdirSync(`${path}-wal`);
    const wal = createWalSync(path);
    await expect(wal.sync()).rejects.toMatchObject({ code: "EISDIR" });
    expect(() => wal.syncNow()).toThrow(expect.objectContaining({ code: "EISDIR" }));
    wal.close();
  });
});

function readCursors(file: string): unknown {
  const other = new DatabaseSync(file);
  try {
    return other.prepare("SELECT * FROM cursors").all();
  } finally {
    other.close();
  }
}
