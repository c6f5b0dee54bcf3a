import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { requestKeysContract } from "@ergon/core/testing/contracts";
import { afterAll } from "vitest";
import { openSqliteRequestKeys } from "./request-keys.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-keys-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

requestKeysContract("SQLite on file", async () => {
  const path = join(folder, `${String((made += 1))}.db`);
  const keys = openSqliteRequestKeys({ path });
  return {
    keys,
    reopen: async () => {
      await keys.close();
      return openSqliteRequestKeys({ path });
    },
  };
});
