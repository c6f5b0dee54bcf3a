import { approvalStoreContract } from "../../testing/contracts/approval-store.contract.ts";
import { createMemoryApprovalStore } from "./approval-store.ts";

approvalStoreContract("memory", async () => ({ approvals: createMemoryApprovalStore() }));
