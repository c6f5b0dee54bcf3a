import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { stateStoreContract } from "@ergon/core/testing/contracts";
import { openSqliteStateStore } from "./state-store.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-sqlite-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

stateStoreContract("SQLite in memory", async () => ({ store: openSqliteStateStore({ path: ":memory:" }) }));

stateStoreContract("SQLite on file", async () => {
  made += 1;
  const path = join(folder, `${String(made)}.db`);
  let store = openSqliteStateStore({ path });
  return {
    store,
    reopen: async () => {
      await store.close();
      store = openSqliteStateStore({ path });
      return store;
    },
  };
});
