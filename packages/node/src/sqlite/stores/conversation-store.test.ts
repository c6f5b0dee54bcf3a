import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationStoreContract } from "@ergon/core/testing/contracts";
import { afterAll } from "vitest";
import { openSqliteConversationStore } from "./conversation-store.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-conversations-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

conversationStoreContract("SQLite on file", async () => {
  const path = join(folder, `${String((made += 1))}.db`);
  const store = openSqliteConversationStore({ path });
  return {
    store,
    reopen: async () => {
      await store.close();
      return openSqliteConversationStore({ path });
    },
  };
});
