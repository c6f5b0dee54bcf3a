import { approvalQuestionsContract } from "../../testing/contracts/approval-questions.contract.ts";
import { createMemoryApprovalStore } from "../memory/approval-store.ts";
import { createSystemClock } from "../memory/clock.ts";
import { silentLogger } from "../memory/logger.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { createApprovalService } from "./approval-service.ts";
import { createToolGrants } from "./tool-grants.ts";

approvalQuestionsContract("on a store in memory", async () => {
  const parts = { registry: new ToolRegistry(), clock: createSystemClock(), logger: silentLogger };
  const desk = createApprovalService({ ...parts, store: createMemoryApprovalStore(), grants: createToolGrants() });
  const answer = (id: string, approved: boolean) =>
    desk.decide({ name: "ada" }, id, { decision: approved ? "approve" : "deny" });
  return { desk, answer };
});
