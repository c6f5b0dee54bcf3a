import type { Clock, ErgonError, Logger, ToolRegistry } from "@ergon/core";
import type { ToolSummary } from "@ergon/core/schema";
import type { Ids } from "@ergon/core/store-kit";
import type { Engine, RefinementLoops, ToolGate } from "@ergon/core/engine";
import type { Conversations } from "@ergon/core/conversation";
import type { ApprovalClient, ServerAdmin, SettingValues, TokenAdmin } from "@ergon/node";
import type { Asking } from "../services/approval-rules.ts";
import type { Models } from "../services/choose-models.ts";
import type { HubParts } from "../hub/open-hub.ts";
import type { AskTurn } from "../services/make-loop.ts";
import type { ClientApprovals, ValidatePlan } from "../mcp/drive/with-owner.ts";
import type { OpenedData } from "./opened-data.ts";
import type { PlanCatalog } from "../services/plan-catalog.ts";

/** A data folder at work, as commands and doors see it: through its owner, whoever that is. */
export type Workspace = {
  readonly engine: Engine;
  readonly loops: RefinementLoops;
  readonly conversations: Conversations;
  /** One turn of the planner loop; a failed run is an answer. */
  readonly ask: AskTurn;
  /** Where the owner listens: this process or another. */
  readonly url: string;
  readonly isOwner: boolean;
  readonly tokens: TokenAdmin;
  /** The MCP servers of the hub. */
  readonly servers: ServerAdmin;
  /** Waits a little for servers that have just begun to start. */
  readonly allToolsReady: () => Promise<void>;
  /** Every tool that is there now, those of the hub's servers included. */
  readonly tools: () => Promise<readonly ToolSummary[]>;
  readonly validatePlan: ValidatePlan;
  readonly approvals: ApprovalClient;
  /** The questions about a principal's calls, for its own client. */
  readonly approvalsOf: (owner: string) => ClientApprovals;
  readonly close: () => Promise<void>;
};

export type WorkspaceParts = {
  readonly values: SettingValues;
  readonly version: string;
  /** The program's own entry, for processes of its own. */
  readonly entry: string;
  readonly registry: ToolRegistry;
  readonly gate: ToolGate;
  readonly asking: Pick<Asking, "grants" | "follow">;
  readonly models: Models;
  readonly plans: PlanCatalog;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Aborts when the process is asked to go. */
  readonly stopping: AbortSignal;
  /** Says something to the person at the command line. */
  readonly note: (line: string) => void;
  /** For the folder's MCP servers, when it becomes ours. */
  readonly hub: Pick<HubParts, "config" | "environment" | "costs" | "onLearned"> & {
    /** As the environment says; where it does not, the configuration does. */
    readonly autoDiscovery?: boolean;
  };
  /** Ends the process: it must not answer any more. */
  readonly fatal: (error: ErgonError) => void;
  /** Takes the folder; says who has it when another does. */
  readonly open: () => Promise<OpenedData>;
  /** Aborts when the program leaves the folder for good: it waits for no owner any more. */
  readonly closing: AbortSignal;
  /** How long an owner that does not listen is waited for. */
  readonly patienceMs?: number;
};

export type OpenOptions = {
  /** Whether to take up unfinished sessions when the folder becomes ours: not for a look. */
  readonly recover: boolean;
  /** This process goes on until it is stopped: what is kept running is started now, not when it is needed. */
  readonly stays?: boolean;
  /** What runs here cannot run elsewhere: a folder that another process owns is refused. */
  readonly owns?: true;
  /** Tools of the hub's servers are shown to MCP clients, too. */
  readonly gateway?: boolean;
  /** Where to listen; loopback and a free port by default. */
  readonly listen?: {
    readonly host: string;
    readonly port: number;
    readonly firstToken?: string;
    readonly allowedHosts: readonly string[];
  };
};

/** What a folder holds that is ours. */
export type OwnedData = Extract<OpenedData, { kind: "opened" }>;
