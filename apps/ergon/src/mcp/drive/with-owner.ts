import type { Json } from "@ergon/core";
import type { PlanVerdict, ToolSummary } from "@ergon/core/schema";
import type { Engine, RefinementLoops } from "@ergon/core/engine";
import type { ApprovalClient, ServerAdmin } from "@ergon/node";
import type { AskTurn } from "../../services/make-loop.ts";

/** What MCP asks of a data folder. */
export type McpWorkspace = {
  readonly engine: Engine;
  readonly loops: RefinementLoops;
  readonly ask: AskTurn;
  /** Waits a little for servers that have just begun to start. */
  readonly allToolsReady: () => Promise<void>;
  readonly tools: () => Promise<readonly ToolSummary[]>;
  /** What is wrong with a plan, by the tools that the folder's owner has. */
  readonly validatePlan: ValidatePlan;
  /** The questions about this principal's calls, answered through its client. */
  readonly approvalsOf: (owner: string) => ClientApprovals;
  readonly servers: Pick<ServerAdmin, "list" | "ask">;
};

export type ValidatePlan = (given: {
  readonly owner: string;
  readonly plan: unknown;
  readonly input?: Json | undefined;
}) => Promise<PlanVerdict>;

export type ClientApprovals = Pick<ApprovalClient, "find" | "decide">;

/**
 * Does work on whoever owns the data folder. `repeatable`: it may be done again when the owner died and may have done
 * it; what is not, fails then with `owner_gone`.
 */
export type WithOwner = <T>(
  options: { readonly repeatable: boolean },
  work: (workspace: McpWorkspace) => Promise<T>,
) => Promise<T>;
