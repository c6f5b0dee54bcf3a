import fs, { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ErgonError } from "@ergon/core";
import { type Commit, createMemoryLogger } from "@ergon/core/store-kit";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openConversationMemory } from "./stores/conversation-memory.ts";
import { IO_GRACE_MS, openOwnedDatabase, type OwnedDatabase } from "./database/owned-database.ts";
import { openSqliteStateStore, type SqliteStateStore } from "./state/state-store.ts";

let folder: string;
let path: string;
let database: OwnedDatabase;
let store: SqliteStateStore;
let fatal: ErgonError[];
const logger = createMemoryLogger();
const { fdatasync, fdatasyncSync } = fs;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-stop-"));
  path = join(folder, "state.db");
  fatal = [];
  database = openOwnedDatabase({ path, logger, onFatal: (error) => fatal.push(error) });
  store = openSqliteStateStore({ database, logger });
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncsWell();
  await store.close();
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a store whose sync fails", () => {
  it("moves the WAL into the database, and then trusts it again", async () => {
    await store.commit(note("a"));
    failSyncs("EIO");
    await store.sync();
    expect(fs.statSync(`${path}-wal`).size).toBe(0);
    syncsWell();
    await store.commit(note("b", { durable: true }));
    expect(store.health()).toBeUndefined();
    expect(logger.entries()).toContainEqual(
      expect.objectContaining({ level: "warn", message: expect.stringContaining("did not sync") as string }),
    );
  });

  it("acknowledges no durable commit while neither works, and does again when it can", async () => {
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT count(*) FROM sessions");
    failSyncs("EIO");
    await expect(store.commit(note("a", { durable: true }))).rejects.toMatchObject({ code: "store_unavailable" });
    // The failed sync may seem to succeed now, but what it lost is not there.
    syncsWell();
    await expect(store.sync()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(store.health()).toMatchObject({ code: "store_unavailable" });
    reader.close();
    await store.sync();
    expect(store.health()).toBeUndefined();
    expect(fatal).toEqual([]);
  });

  it("stops for good when the disk has failed for too long", async () => {
    const reader = new DatabaseSync(path);
    reader.exec("BEGIN; SELECT count(*) FROM sessions");
    failSyncs("EIO");
    const started = performance.now();
    await expect(database.sync()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(fatal).toEqual([]);
    vi.spyOn(performance, "now").mockReturnValue(started + IO_GRACE_MS + 10_000);
    await expect(database.sync()).rejects.toMatchObject({ code: "store_unavailable", details: { errno: "EIO" } });
    expect(fatal).toHaveLength(1);
    await expect(store.commit(note("a"))).rejects.toBe(fatal[0]);
    reader.close();
  });
});

describe("a store whose tables contradict it", () => {
  it("stops when a commit that was checked is refused by a constraint", async () => {
    // As after damage of an index: the number that the store is going to use is taken.
    database.run("INSERT INTO events VALUES (1, NULL, 'bob', 'tools-changed', '', '{}')");
    await expect(store.commit(note("a"))).rejects.toMatchObject({ code: "commit_invalid" });
    expect(fatal).toMatchObject([{ code: "store_corrupt", retryable: false }]);
    await expect(store.commit({ sessionId: "", owner: "ada", cursor: { name: "c", seq: 1 } })).rejects.toBe(fatal[0]);
    await expect(store.sync()).rejects.toBe(fatal[0]);
    expect(store.health()).toBe(fatal[0]);
  });

  it("goes on beside a row that does not read, and says that it is damaged", async () => {
    await store.commit(note("a"));
    database.run("UPDATE events SET data = '{'");
    await expect(store.readEvents({ afterSeq: 0, limit: 1 })).rejects.toMatchObject({ code: "store_corrupt" });
    await store.commit(note("b"));
    expect(store.health()).toMatchObject({ code: "store_corrupt" });
    expect(fatal).toEqual([]);
  });
});

describe("a store whose file SQLite calls broken", () => {
  it("acknowledges nothing more, although only a read found it", async () => {
    await store.commit(note("a"));
    await store.close();
    await database.close();
    const db = new DatabaseSync(path, { readOnly: true });
    const page = Number(
      db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'chat_messages_by_session'").get()?.["rootpage"],
    );
    db.close();
    const file = fs.openSync(path, "r+");
    fs.writeSync(file, Buffer.alloc(4_096), 0, 4_096, (page - 1) * 4_096);
    fs.closeSync(file);
    database = openOwnedDatabase({ path, logger, onFatal: (error) => fatal.push(error) });
    store = openSqliteStateStore({ database, logger });
    await store.commit(note("b"));
    const memory = openConversationMemory({ database });
    await expect(
      memory.load({ owner: "ada", sessionId: "s", recentLimit: 1, matchLimit: 1, minSimilarity: 0 }),
    ).rejects.toMatchObject({ code: "store_corrupt" });
    expect(fatal).toMatchObject([{ code: "store_corrupt" }]);
    await expect(store.commit(note("c"))).rejects.toBe(fatal[0]);
    expect(store.health()).toBe(fatal[0]);
    expect(await store.readEvents({ afterSeq: 0, limit: 9 }), "what still reads is read").toHaveLength(2);
  });
});

describe("a store that another connection blocks", () => {
  it("refuses the whole batch once, and works on when it is free", async () => {
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const started = performance.now();
    const both = await Promise.allSettled([store.commit(note("a")), store.commit(note("b"))]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(performance.now() - started).toBeLessThan(5_000);
    other.close();
    expect(store.health()).toBeUndefined();
    await store.commit(note("c"));
    expect(await store.lastEventSeq()).toBe(1);
  });
});

function note(text: string, more: Partial<Commit> = {}): Commit {
  return { sessionId: "", owner: "ada", events: [{ type: "tools-changed", at: "", data: { text } }], ...more };
}

/** On this thread and on others. */
function failSyncs(code: string): void {
  const error = Object.assign(new Error(`${code}: i/o error, fdatasync`), { code, syscall: "fdatasync" });
  fs.fdatasync = ((_: number, told: (failure: NodeJS.ErrnoException) => void) => {
    setImmediate(() => told(error));
  }) as typeof fdatasync;
  fs.fdatasyncSync = () => {
    throw error;
  };
  syncBuiltinESMExports();
}

function syncsWell(): void {
  Object.assign(fs, { fdatasync, fdatasyncSync });
  syncBuiltinESMExports();
}
