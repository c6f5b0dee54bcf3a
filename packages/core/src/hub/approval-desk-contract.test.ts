import { approvalDeskContract } from "../../testing/approval-desk.contract.ts";
import { createMemoryApprovalStore } from "../memory/approval-store.ts";
import { createSystemClock } from "../memory/clock.ts";
import { silentLogger } from "../memory/logger.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { createApprovals } from "./approval-desk.ts";
import { createToolGrants } from "./tool-grants.ts";

approvalDeskContract("on a store in memory", async () => {
  const parts = { registry: new ToolRegistry(), clock: createSystemClock(), logger: silentLogger };
  const desk = createApprovals({ ...parts, store: createMemoryApprovalStore(), grants: createToolGrants() });
  const answer = (id: string, approved: boolean) =>
    desk.decide({ name: "ada" }, id, { decision: approved ? "approve" : "deny" });
  return { desk, answer };
});
