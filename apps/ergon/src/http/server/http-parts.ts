import type { AgenticPlan, Clock, ErgonError, Json, Logger, LoopOptions, LoopRequest, StoredEvent } from "@ergon/core";
import type { ToolSummary } from "@ergon/core/schema";
import type { EventQuery, Ids } from "@ergon/core/store-kit";
import type {
  ApprovalService,
  DryRun,
  EmbeddedEngine,
  Engine,
  PlanReport,
  RefinementLoops,
  RequestKeyStore,
} from "@ergon/core/engine";
import type { Attempt } from "@ergon/core/planner";
import type { HubStats } from "@ergon/core/hub";
import type { Conversations } from "@ergon/core/conversation";
import type { OwnedSubAgent, ServerAdmin, TokenStore } from "@ergon/node";
import type { McpHost } from "../../mcp/host/mcp-host.ts";
import type { RequestLimits } from "./limits.ts";
import type { StreamTimes } from "./event-streams.ts";

/** What the server puts on the wire; made elsewhere, so that the server itself knows neither store nor gate. */
export type HttpParts = {
  readonly engine: Engine;
  readonly outbox: Outbox;
  readonly tools: ToolApi;
  readonly plans: PlanApi;
  readonly requestKeys: RequestKeyStore;
  readonly loops: RefinementLoops;
  readonly approvals: Pick<ApprovalService, "list" | "find" | "decide" | "grants" | "revoke">;
  readonly conversations: Conversations;
  readonly subAgent: Pick<OwnedSubAgent, "sendRequest" | "getStatus" | "ownerOf" | "list" | "cancelRequest">;
  readonly ids: Ids;
  readonly ask: (request: LoopRequest, options: LoopOptions) => Promise<Attempt>;
  /** Loaded with the first MCP request. */
  readonly mcp: () => Promise<McpHost>;
  readonly tokens: TokenStore;
  readonly servers: ServerAdmin;
  /** Undefined where there are no servers. */
  readonly hubStats: () => Promise<HubStats | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Names that requests may carry beside those of this machine. */
  readonly allowedHosts: readonly string[];
  readonly activeRuns: () => number;
  /** False while sessions of an earlier process are still being taken up. */
  readonly isReady: () => boolean;
  /** What is wrong with the store: damage, no room, a lost data folder. */
  readonly storeHealth: () => ErgonError | undefined;
  readonly limits?: RequestLimits;
  readonly streamTimes?: StreamTimes;
  readonly requestTimes?: RequestTimes;
  readonly maxConnections?: number;
};

type Outbox = {
  readonly lastSeq: () => Promise<number>;
  readonly read: (query: EventQuery) => Promise<readonly StoredEvent[]>;
};

type ToolApi = {
  /** Waits a little for servers that have just begun to start. */
  readonly allToolsReady: () => Promise<void>;
  readonly list: () => readonly ToolSummary[];
  readonly call: EmbeddedEngine["callTool"];
};

export type PlanApi = {
  readonly list: () => readonly AgenticPlan[];
  readonly get: (planId: string) => AgenticPlan | undefined;
  readonly dryRun: DryRun;
  readonly validate: (plan: unknown, input: Json | undefined) => Pick<PlanReport, "ok" | "problems" | "estimate">;
};

/** How long a client may take to say what it wants. */
export type RequestTimes = { readonly headersMs: number; readonly requestMs: number; readonly idleMs: number };

/** Connections that a server holds at once; what comes beyond is dropped. */
export const MAX_CONNECTIONS = 10_000;

export const REQUEST_TIMES: RequestTimes = { headersMs: 10_000, requestMs: 30_000, idleMs: 65_000 };
