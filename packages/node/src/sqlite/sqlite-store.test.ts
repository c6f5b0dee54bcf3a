import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryLogger, type Commit } from "@ergon/core";
import { afterAll, describe, expect, it } from "vitest";
import { MAX_EVENT_CHARS_PER_ROW, MAX_COMMITS_PER_ROW } from "./fold-events.ts";
import { CHECKPOINT_PAGES, MAX_WAL_BYTES } from "./open-database.ts";
import { SCAN_ROWS } from "./read-energy.ts";
import { ROWS_PER_TURN } from "./read-events.ts";
import { MAX_KNOWN_SESSIONS } from "./session-directory.ts";
import { openSqliteStateStore } from "./state-store.ts";

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
      const many = MAX_COMMITS_PER_ROW * (ROWS_PER_TURN + 1);
      const ofBob = { sessionId: "", owner: "bob" };
      await Promise.all(Array.from({ length: many }, (_, n) => store.commit({ ...ofBob, events: [event(n)] })));
      for (let n = 0; n < SCAN_ROWS; n += 1_000) {
        await Promise.all(
          Array.from({ length: 1_000 }, (_, at) =>
            store.commit({ ...ofBob, owner: `bob ${String(at)}`, energy: [spent(1)] }),
          ),
        );
        await store.verify();
      }
      await store.commit(session("s", 1, { events: [event(1)], energy: [spent(1)] }));
      const last = many + 2;
      for (const query of [{ owner: OWNER }, { sessionId: "s" }, { owner: OWNER, sessionId: "s" }]) {
        for (const folds of [false, true]) {
          if (folds) await store.verify();
          const found = await store.readEvents({ ...query, afterSeq: 0, limit: 5 });
          expect(found.map(({ seq }) => seq)).toEqual([1, last]);
        }
      }
      expect(await store.readEvents({ afterSeq: 1, owner: OWNER, limit: 5 })).toHaveLength(1);
      expect(await store.readEnergy({ owner: OWNER })).toEqual({ units: 2, rows: 2 });
      expect(await store.readEnergy({ sessionId: "s", owner: OWNER })).toEqual({ units: 2, rows: 2 });
      await store.close();
    },
  );

  it.each([
    ["numbers", MAX_COMMITS_PER_ROW, 10],
    ["text", 6, MAX_EVENT_CHARS_PER_ROW / 2],
  ])("finds a session's events on both sides of every row's edge, by %s", async (_, perRow, chars) => {
    const store = openSqliteStateStore({ path: ":memory:" });
    await store.commit(session("s", 0));
    const text = "x".repeat(chars);
    const expected: number[] = [];
    const commits: Commit[] = [];
    for (let seq = 1; seq <= perRow * 3; seq += 1) {
      const ours = seq % perRow <= 1 || seq % perRow === perRow - 1 || seq % 2 === 0;
      commits.push({ sessionId: ours ? "s" : "", owner: OWNER, events: [{ ...event(seq), data: { seq, text } }] });
      if (ours) expected.push(seq);
    }
    await Promise.all(commits.map((commit) => store.commit(commit)));
    for (const folds of [false, true]) {
      if (folds) await store.verify();
      for (const afterSeq of [0, ...expected]) {
        const found = await store.readEvents({ afterSeq, sessionId: "s", limit: 1_000 });
        expect(found.map(({ seq, data }) => [seq, data["seq"]])).toEqual(
          expected.filter((seq) => seq > afterSeq).map((seq) => [seq, seq]),
        );
      }
    }
    await store.close();
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

  it("keeps its log within its bound, whatever is written", { timeout: 60_000 }, async () => {
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

  it("folds its log into the database while it goes on", { timeout: 60_000 }, async () => {
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
      frames: null,
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
