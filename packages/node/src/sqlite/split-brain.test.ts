import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { createMemoryLogger, type StateStore } from "@ergon/core/store-kit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteApprovalStore } from "./stores/approval-store.ts";
import { checkDatabase } from "./database/check-database.ts";
import { openOwnedDatabase, type OwnedDatabase, type OwnedDatabaseOptions } from "./database/owned-database.ts";
import { openSqliteStateStore } from "./state/state-store.ts";

const AT = "2026-01-02T03:04:05.000Z";
const LOST = { code: "ownership_lost", retryable: false };

let folder: string;
let path: string;
const opened: OwnedDatabase[] = [];
const children: ChildProcessWithoutNullStreams[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ergon-split-"));
  path = join(folder, "state.db");
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const database of opened.splice(0)) await database.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a database that two processes believe to own", () => {
  it("is the second one's after the first one's locks were dropped, and nothing acknowledged is lost", async () => {
    const fatal: ErgonError[] = [];
    const first = openSqliteStateStore({ database: open({ onFatal: (error) => fatal.push(error) }) });
    const acknowledged: string[] = [];
    for (let n = 0; n < 40; n += 1) await keep(first, `first-${String(n)}`, acknowledged);
    dropLocks();
    const second = openSqliteStateStore({ database: open() });
    await keep(second, "second-0", acknowledged);
    for (let n = 40; n < 80; n += 1)
      await expect(keep(first, `first-${String(n)}`, acknowledged)).rejects.toMatchObject(LOST);
    await expect(first.sync()).rejects.toMatchObject(LOST);
    expect(fatal).toMatchObject([LOST]);
    await keep(second, "second-1", acknowledged);
    expect(await idsIn(second)).toEqual(acknowledged.toSorted());
  });

  it(
    "is another process's as soon as that has opened it, also when it has ended since",
    { timeout: 30_000 },
    async () => {
      const first = openSqliteStateStore({ database: open() });
      const acknowledged: string[] = [];
      await keep(first, "first-0", acknowledged);
      dropLocks();
      const other = await elsewhere();
      await other.commit("other-0", acknowledged);
      await expect(keep(first, "first-1", acknowledged)).rejects.toMatchObject(LOST);
      await other.commit("other-1", acknowledged);
      // A clean end: SQLite there believes to be alone and deletes the WAL.
      await other.end();
      await expect(keep(first, "first-2", acknowledged)).rejects.toMatchObject(LOST);
      await opened[0]?.close();
      const third = openSqliteStateStore({ database: open() });
      expect(await idsIn(third)).toEqual(acknowledged.toSorted());
      expect(await third.verify()).toEqual([]);
    },
  );

  it("acknowledges nothing more when a store beside it is asked, and says so there, too", async () => {
    const first = open();
    const approvals = openSqliteApprovalStore({ database: first });
    open();
    await expect(approvals.withdraw(["a"], AT)).rejects.toMatchObject(LOST);
    expect(first.health()).toMatchObject(LOST);
  });
});

describe("a database whose files were replaced", () => {
  it.each(["", "-wal"])("is lost when its file %j is another one, and is not written over", async (suffix) => {
    const logger = createMemoryLogger();
    const fatal: ErgonError[] = [];
    const first = openSqliteStateStore({ database: open({ logger, onFatal: (error) => fatal.push(error) }) });
    const acknowledged: string[] = [];
    await keep(first, "first-0", acknowledged);
    await first.sync();
    cpSync(`${path}${suffix}`, `${path}${suffix}-copy`);
    renameSync(`${path}${suffix}-copy`, `${path}${suffix}`);
    await expect(keep(first, "first-1", acknowledged)).rejects.toMatchObject(LOST);
    expect(fatal).toMatchObject([LOST]);
    expect(logger.entries()).toMatchObject([{ level: "error", fields: { path } }]);
    await first.close();
    await opened[0]?.close();
    const next = openSqliteStateStore({ database: open() });
    expect(await idsIn(next)).toEqual(acknowledged);
    expect(await next.verify()).toEqual([]);
  });

  it.each(["moved away", "moved away and another one is in its place"])(
    "has all that was acknowledged where its folder is now, when the folder was %s",
    async (how) => {
      const first = openSqliteStateStore({ database: open() });
      const acknowledged: string[] = [];
      for (let n = 0; n < 20; n += 1) await keep(first, `first-${String(n)}`, acknowledged);
      await first.sync();
      const moved = `${folder}-moved`;
      renameSync(folder, moved);
      mkdirSync(folder);
      const others: string[] = [];
      const other = how === "moved away" ? undefined : openSqliteStateStore({ database: open() });
      if (other !== undefined) await keep(other, "other-0", others);
      await expect(keep(first, "late", acknowledged)).rejects.toMatchObject(LOST);
      await opened[0]?.close();
      if (other !== undefined) {
        await keep(other, "other-1", others);
        expect(await idsIn(other)).toEqual(others);
      }
      const next = openSqliteStateStore({ database: open({ path: join(moved, "state.db") }) });
      expect(await idsIn(next)).toEqual(acknowledged.toSorted());
      expect(await next.verify()).toEqual([]);
      await opened.at(-1)?.close();
      rmSync(moved, { recursive: true });
    },
  );

  it.each(["removed", "moved away", "replaced by a copy"])(
    "keeps what its WAL held, which was %s under a process that still owns it, and says where",
    async (how) => {
      const first = openSqliteStateStore({ database: open({ confirmOwner: () => undefined }) });
      const acknowledged: string[] = [];
      for (let n = 0; n < 20; n += 1) await keep(first, `first-${String(n)}`, acknowledged);
      await first.sync();
      if (how === "replaced by a copy") cpSync(`${path}-wal`, `${path}-copy`);
      if (how === "moved away") renameSync(`${path}-wal`, `${path}-away`);
      else rmSync(`${path}-wal`);
      if (how === "replaced by a copy") renameSync(`${path}-copy`, `${path}-wal`);
      const kept = `${path}-wal.removed`;
      const said = { ...LOST, message: expect.stringContaining(`is kept in ${kept}.`) as string };
      await expect(keep(first, "late", acknowledged)).rejects.toMatchObject(said);
      await opened[0]?.close();
      expect(checkDatabase(path, { isFree: true })).toEqual([expect.stringContaining(`move it to ${path}-wal`)]);
      renameSync(kept, `${path}-wal`);
      const next = openSqliteStateStore({ database: open() });
      expect(await idsIn(next)).toEqual(acknowledged.toSorted());
      expect(await next.verify()).toEqual([]);
    },
  );

  it("is noticed by who looks, also when nothing is written", () => {
    const first = open();
    expect(first.health()).toBeUndefined();
    renameSync(`${path}-wal`, `${path}-wal-away`);
    expect(first.health()).toMatchObject(LOST);
  });
});

describe("a database whose owner is not confirmed", () => {
  it("stops, with the reason that was given", async () => {
    let isOwner = true;
    const confirmOwner = (): void => {
      if (!isOwner) throw storeError("ownership_lost", "server.json has another nonce.");
    };
    const fatal: ErgonError[] = [];
    const store = openSqliteStateStore({ database: open({ confirmOwner, onFatal: (error) => fatal.push(error) }) });
    await keep(store, "a", []);
    const synced = store.sync();
    isOwner = false;
    await expect(synced).rejects.toMatchObject({ ...LOST, message: "server.json has another nonce." });
    isOwner = true;
    await expect(keep(store, "b", [])).rejects.toMatchObject(LOST);
    expect(fatal).toHaveLength(1);
  });
});

function open(options: Partial<OwnedDatabaseOptions> = {}): OwnedDatabase {
  const database = openOwnedDatabase({ path, ...options });
  opened.push(database);
  return database;
}

/** What a home-made backup inside of the process does: POSIX locks of a file go with any close of it. */
function dropLocks(): void {
  for (const name of readdirSync(folder)) closeSync(openSync(join(folder, name), "r"));
  cpSync(folder, `${folder}-backup`, { recursive: true });
  rmSync(`${folder}-backup`, { recursive: true });
}

async function keep(store: StateStore, sessionId: string, acknowledged: string[]): Promise<void> {
  const core = { sessionId, createdAt: AT, updatedAt: AT, waiting: [], run: 0, energySpent: 0 };
  const session = { core: { ...core, status: "running" }, cursor: null } as const;
  await store.commit({ sessionId, owner: "ada", expectVersion: 0, session });
  acknowledged.push(sessionId);
}

async function idsIn(store: StateStore): Promise<string[]> {
  return (await store.listSessions({ limit: 1_000 })).items.map(({ core }) => core.sessionId).toSorted();
}

/** A second owner in a process of its own. */
async function elsewhere() {
  const script = `
    import { createInterface } from "node:readline";
    import { openSqliteStateStore } from "./state/state-store.ts";
    const store = openSqliteStateStore({ path: ${JSON.stringify(path)} });
    console.log("open");
    for await (const sessionId of createInterface(process.stdin)) {
      const core = { sessionId, createdAt: "", updatedAt: "", waiting: [], run: 0, energySpent: 0, status: "running" };
      await store.commit({ sessionId, owner: "ada", expectVersion: 0, session: { core, cursor: null } });
      console.log(sessionId);
    }
    await store.close();`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], { cwd: import.meta.dirname });
  children.push(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("open");
  return {
    commit: async (sessionId: string, acknowledged: string[]) => {
      child.stdin.write(`${sessionId}\n`);
      expect((await lines.next()).value).toBe(sessionId);
      acknowledged.push(sessionId);
    },
    end: async () => {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}
