import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "./open-database.ts";
import { STATE_SCHEMA } from "./schema.ts";
import { openWalFile, type WalFile } from "./wal-file.ts";

let folder: string;
let path: string;
let db: DatabaseSync;
let wal: WalFile;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-wal-"));
  path = join(folder, "state.db");
  db = openDatabase({ path, schema: STATE_SCHEMA });
  wal = openWalFile(path);
});
afterEach(() => {
  wal.close();
  wal.close();
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the WAL of an open database", () => {
  it("is synced and not changed", async () => {
    const before = readFileSync(`${path}-wal`);
    expect(before.length).toBeGreaterThan(0);
    await wal.sync();
    expect(readFileSync(`${path}-wal`)).toEqual(before);
    expect(wal.isInPlace()).toBe(true);
  });

  it("is the same file after a checkpoint has cut it", async () => {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(statSync(`${path}-wal`).size).toBe(0);
    await wal.sync();
    db.exec("INSERT INTO cursors VALUES ('b', 'o', 1)");
    await wal.sync();
    expect(wal.isInPlace()).toBe(true);
  });

  it.each(["", "-wal"])("is no longer in its place when its file %j is another one", (suffix) => {
    renameSync(`${path}${suffix}`, `${path}${suffix}-away`);
    expect(wal.isInPlace()).toBe(false);
    writeFileSync(`${path}${suffix}`, "");
    expect(wal.isInPlace()).toBe(false);
    renameSync(`${path}${suffix}-away`, `${path}${suffix}`);
    expect(wal.isInPlace()).toBe(true);
  });

  it("is emptied only when it lies elsewhere", () => {
    const before = statSync(`${path}-wal`).size;
    wal.discard();
    expect(statSync(`${path}-wal`).size).toBe(before);
    renameSync(`${path}-wal`, `${path}-wal-away`);
    wal.discard();
    expect(statSync(`${path}-wal-away`).size).toBe(0);
  });
});
