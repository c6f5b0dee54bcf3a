import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approvalStoreContract } from "@ergon/core/testing/contracts";
import { afterAll } from "vitest";
import { openSqliteApprovalStore } from "./approval-store.ts";

const folder = mkdtempSync(join(tmpdir(), "ergon-approvals-"));
let made = 0;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

approvalStoreContract("SQLite on file", async () => {
  const path = join(folder, `${String((made += 1))}.db`);
  const approvals = openSqliteApprovalStore({ path });
  return {
    approvals,
    reopen: async () => {
      await approvals.close();
      return openSqliteApprovalStore({ path });
    },
  };
});
