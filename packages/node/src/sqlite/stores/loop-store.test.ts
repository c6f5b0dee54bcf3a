import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loopStoreContract } from "@ergon/core/testing/contracts";
import { afterAll, expect, it } from "vitest";
import { openSqliteLoopStore } from "./loop-store.ts";
import { openOwnedDatabase } from "../database/owned-database.ts";
import { openSqliteStateStore } from "../state/state-store.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-loops-"));
let made = 0;
const freshPath = (): string => join(folder, `${String((made += 1))}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

loopStoreContract("SQLite on file", async (keeping) => {
  const path = freshPath();
  const loops = openSqliteLoopStore({ path, ...keeping });
  return {
    loops,
    reopen: async () => {
      await loops.close();
      return openSqliteLoopStore({ path, ...keeping });
    },
  };
});

it("lives in the same file as the state", async () => {
  const path = freshPath();
  const database = openOwnedDatabase({ path });
  const state = openSqliteStateStore({ database });
  const loops = openSqliteLoopStore({ database, keepPerOwner: 10 });
  const created_at = "2026-01-15T10:30:00.000Z";
  const loop = { id: "aaaaaaaa", loop_type: "plan", status: "initialized", created_at } as const;
  await loops.add("ada", { ...loop, current_score: null, score_history: [], iteration: 0 });
  await state.commit({ sessionId: "", owner: "ada", cursor: { name: "c", seq: 1 } });
  await loops.close();
  expect(await state.readCursor("c")).toBe(1);
  await database.close();
});
