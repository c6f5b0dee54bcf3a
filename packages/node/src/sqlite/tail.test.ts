import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import type { Commit } from "@ergon/core";
import { stateStoreContract } from "@ergon/core/testing";
import { afterAll, describe, expect, it } from "vitest";
import { MAX_TAIL_CHARS, MAX_TAIL_COMMITS } from "./batch-writer.ts";
import { logFilesOf, openCommitLog } from "./commit-log.ts";
import { FOLD_AFTER_MS } from "./folding.ts";
import { openLogFile } from "./log-file.ts";
import { openSqliteStateStore, type SqliteStateStore } from "./state-store.ts";

const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "ergon-tail-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The files as a killed process leaves them: nothing was folded on the way out.
stateStoreContract("SQLite, taken over from a process that was killed", async () => {
  let path = freshPath();
  const store = openSqliteStateStore({ path });
  return {
    store,
    reopen: async () => {
      const killed = path;
      path = freshPath();
      copyFiles(killed, path);
      return openSqliteStateStore({ path });
    },
  };
});

describe("the tail", () => {
  it("is folded together with the commit that would make it too long", async () => {
    const { path, store } = open();
    // In one turn, so that the time it takes does not fold them; then they are one record.
    await Promise.all(Array.from({ length: MAX_TAIL_COMMITS }, (_, n) => store.commit(step(n))));
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 0 });
    await store.commit(step(MAX_TAIL_COMMITS));
    expect(rowsOf(path)).toEqual({ tail: 0, journal: MAX_TAIL_COMMITS + 1 });
    await store.close();
  });

  it("is folded together with the commit that would make it too large", async () => {
    const { path, store } = open();
    const text = "x".repeat(MAX_TAIL_CHARS / 2);
    await store.commit(step(0));
    await store.commit({ ...step(1), events: [{ type: "step-finished", at: AT, data: { text } }] });
    expect(rowsOf(path)).toEqual({ tail: 2, journal: 0 });
    await store.commit({ ...step(2), events: [{ type: "step-finished", at: AT, data: { text } }] });
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 3 });
    expect(await store.readEvents({ afterSeq: 0, limit: 10 })).toHaveLength(3);
    await store.close();
  });

  it("is folded when nobody adds to it", async () => {
    const { path, store } = open();
    await store.commit(step(0));
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 0 });
    for (let tries = 0; rowsOf(path).tail > 0 && tries < 50; tries += 1) await setTimeout(FOLD_AFTER_MS);
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 1 });
    await store.close();
  });

  it("is folded by who reads what it changed", async () => {
    const { path, store } = open();
    await store.commit(step(0));
    expect(await store.readJournal({ sessionId: "s", order: "newest", limit: 1 })).toHaveLength(1);
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 1 });
    await store.commit(step(1));
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 1 });
    expect(await store.readJournal({ sessionId: "s", order: "newest", limit: 1 })).toMatchObject([{ ord: "1" }]);
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 2 });
    await store.close();
  });

  it("answers for sessions, single calls, plans, blobs, cursors and events without being folded", async () => {
    const { path, store } = open();
    await store.commit(step(0));
    const before = await everything(store);
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 0 });
    await store.verify();
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 1 });
    expect(await everything(store)).toEqual(before);
    await store.commit(step(1));
    expect(await store.readJournalRow("s", "0")).toMatchObject({ state: "finished", request: { n: 0 }, stepId: "x" });
    expect(await store.readSession("s")).toMatchObject({ version: 2, owner: "ada", input: 0, planHash: "p0" });
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 1 });
    await store.close();
  });

  it("is in the log alone until it is folded, and leaves no file of it behind when the store is closed", async () => {
    const { path, store } = open();
    expect(logsOf(path)).toEqual([]);
    await store.commit(step(0));
    expect(logsOf(path)).toHaveLength(1);
    await store.close();
    expect(logsOf(path)).toEqual([]);
    expect(rowsOf(path)).toEqual({ tail: 0, journal: 1 });
    const again = openSqliteStateStore({ path });
    await again.commit(step(1));
    expect(rowsOf(path)).toEqual({ tail: 1, journal: 1 });
    expect(await again.readEvents({ afterSeq: 0, limit: 10 })).toHaveLength(2);
    await again.close();
  });

  it("is refused as a broken store when it no longer reads, and left as it is", async () => {
    const { path, store } = open();
    await store.commit(step(0));
    const copy = freshPath();
    copyFiles(path, copy);
    await store.close();
    // Whole, as its checksum says, and yet no commit.
    for (const file of logsOf(copy)) {
      const log = openLogFile(file, logOf(copy).storeId);
      log.append("[{");
      log.close();
    }
    for (let tries = 0; tries < 2; tries += 1)
      expect(() => openSqliteStateStore({ path: copy })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(rowsOf(copy)).toEqual({ tail: 2, journal: 0 });
  });

  it("is refused when it is another database's, and left as it is", async () => {
    const { path, store } = open();
    await store.commit(step(0));
    const copy = freshPath();
    await openSqliteStateStore({ path: copy }).close();
    const [log] = logFilesOf(copy);
    for (const file of logsOf(path)) copyFileSync(file, log);
    await store.close();
    const before = readFileSync(log);
    expect(() => openSqliteStateStore({ path: copy })).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(readFileSync(log)).toEqual(before);
    // As its message says: without that file it goes on.
    rmSync(log);
    await openSqliteStateStore({ path: copy }).close();
  });

  it("refuses what the tables refuse, when the row in question was folded", async () => {
    const { store } = open();
    await store.commit(step(0));
    await store.commit(step(1));
    await store.verify();
    for (const commit of [step(0), step(1), { ...step(2), expectVersion: 1 }])
      await expect(store.commit(commit)).rejects.toThrow(/is at version 2/);
    await expect(store.commit({ ...step(2), journal: [finish(0)] })).rejects.toThrow(/has its result already/);
    for (const n of [0, 1]) {
      const { journal = [] } = step(n);
      await expect(store.commit({ ...step(2), journal: journal.slice(-1) })).rejects.toThrow(/has a journal row at/);
    }
    expect(await store.commit(step(2))).toEqual({ version: 3, lastSeq: 3 });
    await store.close();
  });
});

const AT = "2026-01-02T03:04:05.000Z";

function open(): { readonly path: string; readonly store: SqliteStateStore } {
  const path = freshPath();
  return { path, store: openSqliteStateStore({ path }) };
}

function freshPath(): string {
  made += 1;
  return join(folder, `${String(made)}.db`);
}

/** Of a copy: the store itself lets nobody in. The tail is what the log has behind what the tables have. */
function rowsOf(path: string): { readonly tail: number; readonly journal: number } {
  const copy = freshPath();
  copyFiles(path, copy);
  const { storeId, folded, journal } = logOf(copy);
  const nothing = async (): Promise<void> => undefined;
  const log = openCommitLog({
    path: copy,
    storeId,
    folded,
    syncTables: nothing,
    syncTablesNow: () => undefined,
    isDiskBusy: () => false,
    rescue: nothing,
    logger: undefined,
  });
  return { tail: log.after(folded).length, journal };
}

function logOf(path: string): { readonly storeId: Uint8Array; readonly folded: number; readonly journal: number } {
  const db = new DatabaseSync(path);
  const row = db.prepare("SELECT store_id, folded FROM log").get();
  const journal = Number(db.prepare("SELECT count(*) AS n FROM journal").get()?.["n"]);
  db.close();
  return { storeId: row?.["store_id"] as Uint8Array, folded: Number(row?.["folded"]), journal };
}

/** Those that there are. */
function logsOf(path: string): readonly string[] {
  return logFilesOf(path).filter((file) => existsSync(file));
}

function copyFiles(from: string, to: string): void {
  for (const end of ["", "-wal", "-log0", "-log1"])
    if (existsSync(`${from}${end}`)) copyFileSync(`${from}${end}`, `${to}${end}`);
}

async function everything(store: SqliteStateStore): Promise<unknown> {
  return [
    await store.readSession("s"),
    await store.readJournalRow("s", "0"),
    await store.readPlan("p0"),
    await store.readBlobRow(BLOB, "ada"),
    await store.readBlobRow(BLOB),
    await store.readBlobRow(BLOB, "bob"),
    await store.readCursor("c"),
    await store.readEvents({ afterSeq: 0, sessionId: "s", limit: 10 }),
    await store.readEvents({ afterSeq: 0, owner: "bob", limit: 10 }),
    await store.lastEventSeq(),
  ];
}

const BLOB = "b".repeat(64);

/** Commit n ends call n - 1 and begins call n. */
function step(n: number): Commit {
  const core = { sessionId: "s", createdAt: AT, updatedAt: AT, waiting: [], run: n, energySpent: n };
  return {
    sessionId: "s",
    owner: "ada",
    expectVersion: n,
    session: { core: { ...core, status: "running" }, frames: n, ...(n === 0 ? { planHash: "p0", input: 0 } : {}) },
    ...(n === 0 ? { plan: { hash: "p0", plan: { planId: "p" } as never } } : {}),
    blobs: [{ ref: { $blob: BLOB, bytes: 1, mediaType: "a/b" }, at: AT }],
    cursor: { name: "c", seq: n },
    events: [{ type: "step-finished", at: AT, data: { n } }],
    journal: [
      ...(n === 0 ? [] : [finish(n - 1)]),
      {
        kind: "start",
        ord: String(n),
        scope: "",
        stepId: "x",
        toolId: "t",
        effects: "read",
        key: String(n),
        argsHash: "",
        request: { n },
        at: AT,
      },
    ],
  };
}

function finish(n: number) {
  const result = { output: n };
  return { kind: "finish", ord: String(n), state: "finished", result, at: AT, energyUnits: 0 } as const;
}
