import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryLogger, type Commit } from "@ergon/core/store-kit";
import { afterAll, describe, expect, it } from "vitest";
import { CHECKPOINT_PAGES, MAX_WAL_BYTES } from "./database/open-database.ts";
import { SCAN_ROWS } from "./state/read-energy.ts";
import { SEQS_PER_TURN } from "./state/read-events.ts";
import { MAX_KNOWN_SESSIONS } from "./state/session-directory.ts";
import { openSqliteStateStore } from "./state/state-store.ts";

const AT = "2026-01-02T03:04:05.000Z";
const OWNER = "ada";
const folder = mkdtempSync(join(tmpdir(), "ergon-store-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the SQLite store", () => {
  it("knows more sessions than it remembers", { timeout: 60_000 }, async () => {
    const store = openSqliteStateStore({ path: ":memory:" });
    const ids = Array.from({ length: MAX_KNOWN_SESSIONS + 1 }, (_, n) => `s${String(n)}`);
    for (let at = 0; at < ids.length; at += 1_000)
      await Promise.all(ids.slice(at, at + 1_000).map((id) => store.commit(session(id, 0))));
    expect(await store.commit(session("s0", 1))).toEqual({ version: 2, lastSeq: 0 });
    await expect(store.commit(session("s0", 1))).rejects.toMatchObject({ code: "session_conflict" });
    await store.close();
  });

  it(
    "finds what an owner or a session has among more rows than it looks at in one go",
    { timeout: 60_000 },
    async () => {
      const store = openSqliteStateStore({ path: ":memory:" });
      await store.commit(session("s", 0, { events: [event(0)], energy: [spent(1)] }));
      const many = SEQS_PER_TURN * 2 + 1;
      const ofBob = { sessionId: "", owner: "bob" };
      await Promise.all(Array.from({ length: many }, (_, n) => store.commit({ ...ofBob, events: [event(n)] })));
      for (let n = 0; n < SCAN_ROWS; n += 1_000) {
        await Promise.all(
          Array.from({ length: 1_000 }, (_, at) =>
            store.commit({ ...ofBob, owner: `bob ${String(at)}`, energy: [spent(1)] }),
          ),
        );
      }
      await store.commit(session("s", 1, { events: [event(1)], energy: [spent(1)] }));
      const last = many + 2;
      for (const query of [{ owner: OWNER }, { sessionId: "s" }, { owner: OWNER, sessionId: "s" }]) {
        const found = await store.readEvents({ ...query, afterSeq: 0, limit: 5 });
        expect(found.map(({ seq }) => seq)).toEqual([1, last]);
      }
      expect(await store.readEvents({ afterSeq: 1, owner: OWNER, limit: 5 })).toHaveLength(1);
      expect(await store.readEnergy({ owner: OWNER })).toEqual({ units: 2, rows: 2 });
      expect(await store.readEnergy({ sessionId: "s", owner: OWNER })).toEqual({ units: 2, rows: 2 });
      await store.close();
    },
  );

  it("finds events on both sides of every stretch's edge", { timeout: 60_000 }, async () => {
    const store = openSqliteStateStore({ path: ":memory:" });
    const ofAda = new Set([1, SEQS_PER_TURN, SEQS_PER_TURN + 1, 2 * SEQS_PER_TURN, 2 * SEQS_PER_TURN + 1]);
    const seqs = Array.from({ length: 2 * SEQS_PER_TURN + 1 }, (_, n) => n + 1);
    const owners = seqs.map((seq) => (ofAda.has(seq) ? OWNER : "bob"));
    await Promise.all(owners.map((owner, n) => store.commit({ sessionId: "", owner, events: [event(n)] })));
    for (const afterSeq of [0, 1, SEQS_PER_TURN - 1, SEQS_PER_TURN, SEQS_PER_TURN + 1]) {
      const found = await store.readEvents({ afterSeq, owner: OWNER, limit: 1_000 });
      expect(found.map(({ seq }) => seq)).toEqual([...ofAda].filter((seq) => seq > afterSeq));
      expect((await store.readEvents({ afterSeq, limit: 1 })).map(({ seq }) => seq)).toEqual([afterSeq + 1]);
    }
    await store.close();
  });

  it("has rows that a person can read with sqlite3", async () => {
    const path = freshPath();
    const store = openSqliteStateStore({ path });
    await store.commit(session("s", 0, { events: [event(7)], energy: [spent(2)] }));
    const other = new DatabaseSync(path, { readOnly: true });
    expect(other.prepare("SELECT type, json_extract(data, '$.n') AS n FROM events").get()).toEqual({
      type: "step-finished",
      n: 7,
    });
    expect(other.prepare("SELECT cause, units FROM energy").get()).toEqual({ cause: "tool", units: 2 });
    expect(other.prepare("SELECT core ->> '$.status' AS status FROM sessions").get()).toEqual({ status: "running" });
    other.close();
    await store.commit(session("s", 1));
    await store.close();
  });

  it("can be copied while it is written, as the README says", async () => {
    const path = freshPath();
    const copy = freshPath();
    const store = openSqliteStateStore({ path });
    let n = 0;
    let isOver = false;
    const writing = (async () => {
      for (; !isOver; n += 1) await store.commit(session("s", n, { events: [event(n)] }));
    })();
    await expect.poll(() => n).toBeGreaterThan(20);
    const acknowledged = n;
    const copying = spawn(process.execPath, ["-e", VACUUM, path, copy], { stdio: "inherit" });
    expect(await once(copying, "exit")).toEqual([0, null]);
    expect(n).toBeGreaterThan(acknowledged);
    isOver = true;
    await writing;
    await store.close();
    const copied = openSqliteStateStore({ path: copy });
    expect((await copied.readSession("s"))?.version).toBeGreaterThanOrEqual(acknowledged);
    expect(await copied.verify()).toEqual([]);
    await copied.close();
  });

  it("says so when a row no longer reads, and goes on with the others", async () => {
    const path = freshPath();
    const before = openSqliteStateStore({ path });
    await before.commit(session("s", 0));
    await before.commit(session("t", 0));
    await before.close();
    const db = new DatabaseSync(path);
    db.exec("UPDATE sessions SET frames = '{' WHERE id = 's'");
    db.close();
    const store = openSqliteStateStore({ path });
    await expect(store.readSession("s")).rejects.toMatchObject({ code: "store_corrupt", retryable: false });
    expect((await store.readSession("t"))?.version).toBe(1);
    await store.close();
  });

  it("keeps its WAL within its bound, whatever is written", { timeout: 60_000 }, async () => {
    const path = freshPath();
    const store = openSqliteStateStore({ path });
    let largest = 0;
    const text = "\u2028".repeat(15_000_000);
    for (let n = 0; n < 3; n += 1) {
      await store.commit(session("s", n, { events: [{ type: "step-finished", at: AT, data: { text } }] }));
      largest = Math.max(largest, statSync(`${path}-wal`).size);
    }
    expect(largest).toBeLessThanOrEqual(MAX_WAL_BYTES);
    await store.close();
  });

  it("checkpoints its WAL into the database while it goes on", { timeout: 60_000 }, async () => {
    const path = freshPath();
    const store = openSqliteStateStore({ path, checkpointPages: 50 });
    for (let n = 0; n < 300; n += 1) await store.commit(session("s", n, { events: [event(n)] }));
    expect(statSync(`${path}-wal`).size).toBeLessThan(300 * 4_096);
    expect(CHECKPOINT_PAGES * 4_096).toBeLessThan(MAX_WAL_BYTES);
    await store.close();
  });

  it("takes commits that owe a sync and others", async () => {
    const store = openSqliteStateStore({ path: freshPath() });
    for (let n = 0; n < 10; n += 1) await store.commit(session("s", n, { durable: n % 2 === 0 }));
    expect((await store.readSession("s"))?.version).toBe(10);
    await store.close();
  });

  it("logs a watcher that throws", async () => {
    const logger = createMemoryLogger();
    const store = openSqliteStateStore({ path: ":memory:", logger });
    store.watch(() => {
      throw new Error("broken");
    });
    await store.commit(session("s", 0, { events: [event(1)] }));
    expect(logger.entries()).toMatchObject([{ level: "error", fields: { error: { message: "broken" } } }]);
    await store.close();
  });

  it("finds nothing damaged in a sound database", async () => {
    const store = openSqliteStateStore({ path: freshPath() });
    await store.commit(session("s", 0));
    expect(await store.verify()).toEqual([]);
    await store.close();
  });
});

const VACUUM = `
  const { DatabaseSync } = require("node:sqlite");
  const [path, copy] = process.argv.slice(1);
  new DatabaseSync(path).prepare("VACUUM INTO ?").run(copy);`;

function freshPath(): string {
  made += 1;
  return join(folder, `${String(made)}.db`);
}

function session(sessionId: string, expectVersion: number, more: Partial<Commit> = {}): Commit {
  return {
    sessionId,
    owner: OWNER,
    expectVersion,
    session: {
      core: { sessionId, status: "running", createdAt: AT, updatedAt: AT, waiting: [], run: 0, energySpent: 0 },
      cursor: null,
    },
    ...more,
  };
}

function event(n: number) {
  return { type: "step-finished", at: AT, data: { n } } as const;
}

function spent(units: number) {
  return { at: AT, cause: "tool", units } as const;
}
