import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loopStoreContract } from "@ergon/core/testing";
import { afterAll, expect, it } from "vitest";
import { openSqliteLoopStore } from "./loop-store.ts";
import { openSqliteStateStore } from "./state-store.ts";

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

it("leaves the state's own database as it is", async () => {
  const path = freshPath();
  await openSqliteStateStore({ path }).close();
  expect(() => openSqliteLoopStore({ path, keepPerOwner: 10 })).toThrow(
    expect.objectContaining({ code: "store_corrupt" }),
  );
  await openSqliteStateStore({ path }).close();
});
