import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { type DatabaseOptions, openDatabase as openAny } from "./open-database.ts";
import { APPLICATION_ID, SCHEMA_VERSION, STATE_SCHEMA } from "./schema.ts";
import { openSqliteStateStore } from "../state/state-store.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-open-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const openDatabase = (options: Omit<DatabaseOptions, "schema">) => openAny({ ...options, schema: STATE_SCHEMA });

describe("opening a database", () => {
  it("makes a new one with our mark and the newest schema, in WAL mode", () => {
    const path = freshPath();
    const db = openDatabase({ path });
    expect(db.prepare("PRAGMA application_id").get()).toEqual({ application_id: APPLICATION_ID });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: SCHEMA_VERSION });
    expect(db.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    db.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    openDatabase({ path }).close();
  });

  it("is nobody else's to read, nor is its log", () => {
    const path = freshPath();
    writeFileSync(path, "", { mode: 0o644 });
    const db = openDatabase({ path });
    expect([path, `${path}-wal`].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    db.close();
  });

  it("refuses a schema newer than it knows, and leaves it as it is", () => {
    const path = freshPath();
    openDatabase({ path }).close();
    change(path, `PRAGMA user_version = ${String(SCHEMA_VERSION + 1)}`);
    const before = readFileSync(path);
    expect(() => openDatabase({ path })).toThrow(
      expect.objectContaining({ code: "store_newer", details: { found: SCHEMA_VERSION + 1, known: SCHEMA_VERSION } }),
    );
    expect(readFileSync(path)).toEqual(before);
  });

  it.each([
    ["has another's mark", "PRAGMA application_id = 7; CREATE TABLE theirs (a)"],
    ["has tables but no mark", "CREATE TABLE theirs (a)"],
    ["has a version but no mark", "PRAGMA user_version = 1"],
  ])("refuses a database that %s, and leaves it as it is", (_, sql) => {
    const path = freshPath();
    change(path, sql);
    const before = readFileSync(path);
    expect(() => openDatabase({ path })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(readFileSync(path)).toEqual(before);
  });

  it("refuses a file that is no database, and leaves it as it is", () => {
    const path = freshPath();
    writeFileSync(path, "not a database ".repeat(100));
    expect(() => openDatabase({ path })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(readFileSync(path, "utf8")).toBe("not a database ".repeat(100));
  });

  it("takes an empty file as a new database", () => {
    const path = freshPath();
    writeFileSync(path, "");
    const db = openDatabase({ path });
    expect(db.prepare("PRAGMA user_version").get()).toEqual({ user_version: SCHEMA_VERSION });
    db.close();
  });

  it.each(["", "-wal", "-shm", "-journal"])("refuses a link in the place of its file %j", (suffix) => {
    const path = freshPath();
    const target = join(folder, `target${suffix}`);
    symlinkSync(target, `${path}${suffix}`);
    expect(() => openDatabase({ path })).toThrow(
      expect.objectContaining({ code: "store_unavailable", details: { path: `${path}${suffix}` } }),
    );
    expect(existsSync(target)).toBe(false);
  });

  it.each([false, true])("refuses a WAL whose database is missing or empty (%s), and leaves it", (isThere) => {
    const path = freshPath();
    if (isThere) writeFileSync(path, "");
    writeFileSync(`${path}-wal`, "what a database needs");
    expect(() => openDatabase({ path })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(readFileSync(`${path}-wal`, "utf8")).toBe("what a database needs");
  });

  it("says when there is no such folder, or a folder in its place", () => {
    const unusable = expect.objectContaining({ code: "store_unavailable", retryable: false }) as Error;
    expect(() => openDatabase({ path: join(folder, "nowhere", "state.db") })).toThrow(unusable);
    const path = freshPath();
    mkdirSync(path);
    expect(() => openDatabase({ path })).toThrow(unusable);
  });

  it("brings a database of an earlier schema up to date, with all that it has", async () => {
    const path = freshPath();
    const [first] = STATE_SCHEMA.migrations;
    if (first === undefined) throw new Error("There is no schema.");
    openAny({ path, schema: { ...STATE_SCHEMA, migrations: [first] } }).close();
    const core = { sessionId: "s", status: "completed" as const, createdAt: "", updatedAt: "", waiting: [], run: 1 };
    change(
      path,
      `INSERT INTO sessions (id, owner, version, status, energy_units, energy_rows, core, frames)
       VALUES ('s', 'ada', 3, 'completed', 0, 0, '${JSON.stringify(core)}', 'null')`,
    );
    const store = openSqliteStateStore({ path });
    expect(await store.readSession("s")).toMatchObject({ core, owner: "ada", version: 3 });
    const session = { core: { ...core, energySpent: 0 }, cursor: null };
    await store.commit({ sessionId: "s", owner: "ada", expectVersion: 3, session, run: { id: "r", hash: "h" } });
    expect(await store.readRun({ owner: "ada", id: "r" })).toEqual({ id: "r", hash: "h", sessionId: "s" });
    await store.close();
  });

  it("finishes a migration that a dead process had begun", async () => {
    const path = freshPath();
    const db = new DatabaseSync(path);
    db.exec("PRAGMA journal_mode = WAL; BEGIN; CREATE TABLE sessions (half)");
    db.close();
    const store = openSqliteStateStore({ path });
    expect(await store.lastEventSeq()).toBe(0);
    await store.close();
  });
});

function freshPath(): string {
  made += 1;
  return join(folder, `${String(made)}.db`);
}

function change(path: string, sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}
