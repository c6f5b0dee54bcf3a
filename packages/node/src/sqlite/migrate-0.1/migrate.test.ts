import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { createSystemClock, silentLogger } from "@ergon/core";
import { createMemoryLogger } from "@ergon/core/store-kit";
import { afterAll, describe, expect, it } from "vitest";
import { openSubAgentRequests } from "../../hub/sub-agent/requests.ts";
import { openSqliteApprovalStore } from "../stores/approval-store.ts";
import { openConversationMemory } from "../stores/conversation-memory.ts";
import { openSqliteConversationStore } from "../stores/conversation-store.ts";
import { openInvocationLog } from "../stores/invocation-log.ts";
import { openSqliteLoopStore } from "../stores/loop-store.ts";
import { openOwnedDatabase, type OwnedDatabase } from "../database/owned-database.ts";
import { openSqliteStateStore } from "../state/state-store.ts";
import { readAll } from "./read-all.fixture.ts";

/*
 * The folders in `fixtures` were written by Ergon 0.1: `v1-…` by schema 1, `v2-…` by schema 2. Those that were killed have
 * commits in the tail or in the log that the tables lack. The JSON beside each is what Ergon 0.1 itself read of it.
 */
const FIXTURES = join(import.meta.dirname, "fixtures");
const root = mkdtempSync(join(tmpdir(), "ergon-migrate-"));
let made = 0;
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a data folder of Ergon 0.1", () => {
  it.each(["v1-killed", "v2-killed", "v2-clean"])(
    "has everything that it had after its migration (%s)",
    async (name) => {
      const folder = unpack(name);
      const before = readdirSync(folder).filter((file) => !file.endsWith("-shm"));
      const logger = createMemoryLogger();
      const database = openOwnedDatabase({ path: join(folder, "state.db"), logger });
      expect(await everything(database)).toEqual(expected(name));
      expect(database.all("SELECT from_version, copy, discarded_records FROM migrated")).toMatchObject([
        { copy: "before-0.2", discarded_records: 0 },
      ]);
      expect(database.verify()).toEqual([]);
      await database.close();
      expect(readdirSync(folder).toSorted()).toEqual(["before-0.2", "state.db"]);
      // What is kept beside it is what there was, file by file.
      const original = unpack(name);
      expect(readdirSync(join(folder, "before-0.2")).toSorted()).toEqual(before.toSorted());
      for (const file of before)
        expect(readFileSync(join(folder, "before-0.2", file)).equals(readFileSync(join(original, file)))).toBe(true);
      expect(logger.entries().map(({ level }) => level)).toEqual(["info"]);
    },
  );

  it("is migrated once, and takes commits like any other", async () => {
    const folder = unpack("v2-killed");
    for (const version of [3, 4]) {
      const database = openOwnedDatabase({ path: join(folder, "state.db") });
      const store = openSqliteStateStore({ database });
      expect((await store.readSession("s"))?.version).toBe(version);
      const core = (await store.readSession("s"))?.core;
      if (core === undefined) throw new Error("It is not there.");
      await store.commit({ sessionId: "s", owner: "ada", expectVersion: version, session: { core, cursor: null } });
      await store.close();
      await database.close();
    }
    expect(readdirSync(folder).toSorted()).toEqual(["before-0.2", "state.db"]);
  });

  it("is whole after a SIGKILL at any moment of its migration", { timeout: 120_000 }, async () => {
    let undone = 0;
    for (let delayMs = 0; delayMs < 48; delayMs += 4) {
      const folder = unpack("v2-killed");
      const child = spawn(process.execPath, [join(import.meta.dirname, "open-folder.fixture.ts"), folder], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      child.stdin.write("\n");
      await setTimeout(delayMs);
      child.kill("SIGKILL");
      await once(child, "exit");
      if (existsSync(join(folder, "approvals.db"))) undone += 1;
      const database = openOwnedDatabase({ path: join(folder, "state.db") });
      expect(await everything(database)).toEqual(expected("v2-killed"));
      await database.close();
      expect(readdirSync(folder).filter((file) => file.endsWith(".db"))).toEqual(["state.db"]);
    }
    expect(undone).toBeGreaterThan(0);
  });

  it("says how many records were discarded when its log is damaged, and keeps them", async () => {
    const folder = unpack("v2-killed");
    const log = join(folder, "state.db-log1");
    const bytes = readFileSync(log);
    // A bit of the first record that only the log has.
    const at = firstUnfolded(folder, bytes);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    writeFileSync(log, bytes);
    const logger = createMemoryLogger();
    const database = openOwnedDatabase({ path: join(folder, "state.db"), logger });
    const [note] = database.all<{ discarded_records: number }>("SELECT discarded_records FROM migrated");
    expect(note?.discarded_records).toBeGreaterThan(0);
    expect(logger.entries().find(({ level }) => level === "warn")).toMatchObject({
      fields: { discarded: note?.discarded_records, copy: join(folder, "before-0.2") },
    });
    expect(readFileSync(join(folder, "before-0.2", "state.db-log1")).equals(bytes)).toBe(true);
    await database.close();
  });

  it.each([
    ["a damaged header", (log: string) => flip(log, 2)],
    ["the log of another database", (log: string) => swapLog(log)],
  ])("is refused with %s in its log, and left as it is", (_, damage) => {
    const folder = unpack("v2-killed");
    damage(join(folder, "state.db-log1"));
    expect(() => openOwnedDatabase({ path: join(folder, "state.db") })).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining("state.db-log1") as string }),
    );
    expect(existsSync(join(folder, "approvals.db"))).toBe(true);
  });

  it("is refused without its state.db, which its log needs", () => {
    const folder = unpack("v2-killed");
    rmSync(join(folder, "state.db"));
    expect(() => openOwnedDatabase({ path: join(folder, "state.db") })).toThrow(
      expect.objectContaining({ code: "store_corrupt" }),
    );
  });

  it("is refused with a store that does not read, which it names", () => {
    const folder = unpack("v2-clean");
    writeFileSync(join(folder, "approvals.db"), "not a database ".repeat(500));
    expect(() => openOwnedDatabase({ path: join(folder, "state.db") })).toThrow(
      expect.objectContaining({ code: "store_corrupt", message: expect.stringContaining("approvals.db") as string }),
    );
  });

  it("is refused with a link among its files", () => {
    const folder = unpack("v2-clean");
    rmSync(join(folder, "hub.db"));
    symlinkSync(join(unpack("v2-clean"), "hub.db"), join(folder, "hub.db"));
    expect(() => openOwnedDatabase({ path: join(folder, "state.db") })).toThrow("hub.db is a symbolic link");
  });

  it("is taken over when it only kept loops", async () => {
    const whole = unpack("v2-clean");
    const folder = fresh();
    cpSync(whole, folder, { recursive: true, filter: (file) => !file.endsWith(".db") || file.endsWith("loops.db") });
    const database = openOwnedDatabase({ path: join(folder, "state.db") });
    expect(await openSqliteLoopStore({ database, keepPerOwner: 10 }).list("ada")).toHaveLength(1);
    await database.close();
  });
});

async function everything(database: OwnedDatabase): Promise<unknown> {
  const log = openInvocationLog({
    database,
    clock: createSystemClock(),
    logger: silentLogger,
    hide: (_, value) => value,
  });
  const read = await readAll({
    state: openSqliteStateStore({ database }),
    approvals: openSqliteApprovalStore({ database }),
    conversations: openSqliteConversationStore({ database }),
    loops: openSqliteLoopStore({ database, keepPerOwner: 10 }),
    memory: openConversationMemory({ database }),
    log,
    requests: openSubAgentRequests({ database }),
  });
  return JSON.parse(JSON.stringify(read));
}

function expected(name: string): unknown {
  return JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), "utf8"));
}

function fresh(): string {
  made += 1;
  return join(root, String(made));
}

function unpack(name: string): string {
  const folder = mkdtempSync(join(root, "folder-"));
  const { status } = spawnSync("tar", ["xzf", join(FIXTURES, `${name}.tar.gz`), "-C", folder, "--no-same-owner"]);
  expect(status).toBe(0);
  return folder;
}

/** Where the text of the first record lies that the tables lack. */
function firstUnfolded(folder: string, bytes: Buffer): number {
  const db = new DatabaseSync(join(folder, "state.db"), { readOnly: true });
  const folded = Number(db.prepare("SELECT folded FROM log").get()?.["folded"]);
  db.close();
  let at = 32;
  for (let number = Number(bytes.readBigUInt64LE(16)); number <= folded; number += 1) at += 8 + bytes.readUInt32LE(at);
  return at + 8 + 20;
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(file, bytes);
}

function swapLog(log: string): void {
  const other = unpack("v2-killed");
  const db = new DatabaseSync(join(log, "..", "state.db"));
  db.exec("UPDATE log SET store_id = x'0102030405060708'");
  db.close();
  copyFileSync(join(other, "state.db-log1"), log);
}
