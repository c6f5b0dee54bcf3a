import type { ErgonError } from "../errors/ergon-error.ts";
import { hubError } from "../errors/hub.ts";
import type { McpConnection } from "../ports/mcp-connector.ts";
import type { HubServerStatus, MCPServerConfig } from "../schema/hub.ts";
import type { HubTool } from "./hub-tool.ts";
import { present } from "../schema/values/present.ts";

/** A server as it is to be reached, and as people may see it. */
export type WantedServer = {
  /** Every reference in it resolved. */
  readonly config: MCPServerConfig;
  /** As it was written, with references in the place of values: what a person approves. The same by default. */
  readonly written?: MCPServerConfig;
  /** Hidden wherever the server prints them or fails with them. */
  readonly secrets?: readonly string[];
  /** Those of them that open doors: hidden in results, too. */
  readonly credentials?: readonly string[];
  /** Why it cannot be started as it is. */
  readonly problem?: string;
  /** A person has to approve it first. */
  readonly needsApproval?: true;
};

/** One server's place in the hub. */
export type ServerSlot = {
  wanted: WantedServer;
  readonly part: string;
  /** Absent where it is disabled or cannot be started. */
  readonly connection: McpConnection | undefined;
  /** Ends when it was ready or has failed for the first time; absent until it is to be started. */
  firstTry: Promise<void> | undefined;
  /** By name, what of it is in the registry. */
  readonly registered: Map<string, HubTool>;
  refusals: readonly string[];
};

export const MAX_STATUS_ERRORS = 20;

export function statusOf({ wanted, connection, registered, refusals }: ServerSlot): HubServerStatus {
  const { id, name, enabled } = wanted.config;
  const report = connection?.report();
  const state = report?.state ?? (enabled ? "down" : "disabled");
  const problems = wanted.problem === undefined ? [] : [wanted.problem];
  return {
    id,
    name,
    connected: state === "ready" || state === "degraded",
    toolCount: registered.size,
    lastPing: report?.lastPing ?? null,
    errors: [...problems, ...(report?.errors ?? []), ...refusals].slice(-MAX_STATUS_ERRORS),
    state,
    ...present({ nextTryAt: report?.nextTryAt, protocol: report?.protocol, version: report?.version }),
    ...(wanted.needsApproval === undefined ? {} : { needsApproval: true }),
    ...fenceOf(wanted.config),
  };
}

export function fenceOf({ command, access }: MCPServerConfig): Pick<HubServerStatus, "fence"> {
  return command === undefined ? {} : { fence: access === undefined ? "none" : "limited" };
}

/** Why a tool of a server is not there, when it is not the tool's fault. */
export function absenceOf(toolName: string, status: HubServerStatus): ErgonError | undefined {
  const { id, state, errors, nextTryAt, connected } = status;
  if (connected) return undefined;
  const why = errors.length === 0 ? "" : ` ${errors.at(-1) ?? ""}`;
  const again = nextTryAt === undefined ? "" : ` It is tried again at ${nextTryAt}.`;
  const message = `"${toolName}" is not there: its server "${id}" is ${state}.${why}${again}`;
  return hubError("server_down", message, { retryable: true, details: { serverId: id, state, toolId: toolName } });
}

/** Whether a server that runs as `a` wants it can go on running as `b` wants it. */
export function runsAlike(a: WantedServer, b: WantedServer): boolean {
  return JSON.stringify(running(a)) === JSON.stringify(running(b));
}

/** What a person allows is asked at each call; the rest goes into the connection. */
function running({ config, secrets, credentials, problem }: WantedServer): unknown {
  const { autoApprove: _asked, ...rest } = config;
  return [Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)), secrets, credentials, problem];
}
