// Spec 5's analytics: every call of a server's tool, and what was learned from them. Calls are written together, behind
// their answers; a crash loses the telling of the last moment, never a call: the journal has those.
import { type Clock, type Logger, toErgonError } from "@ergon/core";
import { INLINE_LIMIT_BYTES, sha256Hex } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import { type HubInvocation, HubStats, type MCPServerConfig } from "@ergon/core/hub";
import { redact, redactText } from "../../log/redact.ts";
import { learnFrom, type Learned, type StatsRow, summed } from "./learned-costs.ts";
import { openSmallStore, type StorePlace } from "./small-store.ts";

export const MAX_KEPT_INVOCATIONS = 100_000;
const KEPT_DAYS = 90;
/** So much of parameters, result and error is kept to look at; a large result is whole in the blob store. */
export const MAX_KEPT_CHARS = 4_096;
const WRITE_AFTER_MS = 100;
const MAX_UNWRITTEN = 500;
/** Rows that statistics look at, newest first. */
const STATS_ROWS = 20_000;
const PRUNE_EVERY = 1_000;
const DAY_MS = 86_400_000;

export type InvocationLog = {
  readonly add: (invocation: HubInvocation) => void;
  /** What is known of the servers that there are now; totals of those that are gone stay. */
  readonly noteServers: (servers: readonly MCPServerConfig[]) => Promise<void>;
  readonly stats: () => Promise<HubStats>;
  /** What a call of this tool usually costs; undefined until it has succeeded once. */
  readonly usualUnits: (toolName: string) => number | undefined;
  readonly close: () => Promise<void>;
};

export type InvocationLogOptions = StorePlace & {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Hides a server's secrets. */
  readonly hide: <T>(serverId: string, value: T) => T;
};

export function openInvocationLog({ clock, logger, hide, ...place }: InvocationLogOptions): InvocationLog {
  const store = openSmallStore(place, { what: "log of tool calls" });
  const { all, run, acting, reading } = store;
  const unwritten: HubInvocation[] = [];
  let learned: Learned | undefined;
  let sincePrune = PRUNE_EVERY;
  let stopWaiting: (() => void) | undefined;

  const newest = (): readonly StatsRow[] => all<StatsRow>(`${SELECT_STATS} ORDER BY id DESC LIMIT ? + 0`, STATS_ROWS);
  const known = (): Learned => (learned ??= learnFrom(newest().toReversed()));

  async function write(): Promise<void> {
    stopWaiting?.();
    stopWaiting = undefined;
    const rows = unwritten.splice(0);
    if (rows.length === 0) return;
    sincePrune += rows.length;
    await acting("writing tool calls", () => {
      for (const row of rows) insert(row);
      for (const used of usesIn(rows)) count(used);
      if (sincePrune >= PRUNE_EVERY) prune();
    });
  }

  function writeBehind(): void {
    write().catch((thrown: unknown) => {
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "Tool calls were not written down.");
    });
  }

  function insert({ toolName, serverId, atMs, args, durationMs, energyUnits, outcome, ...by }: HubInvocation): void {
    const isFine = "result" in outcome;
    const shown = (value: unknown): string => cut(JSON.stringify(hide(serverId, redact(value))) ?? "null");
    run(
      `INSERT INTO mcp_tool_invocations (conversation_id, session_id, tool_name, server_id, timestamp, parameters, result, result_blob,
         duration_ms, energy_consumed, success, error, error_code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      by.conversationId ?? null,
      by.sessionId ?? null,
      toolName,
      serverId,
      new Date(atMs).toISOString(),
      shown(args),
      isFine ? shown(outcome.result) : null,
      isFine ? blobOf(outcome.result) : null,
      durationMs,
      energyUnits,
      isFine ? 1 : 0,
      isFine ? null : cut(hide(serverId, redactText(outcome.error.message))),
      isFine ? null : outcome.error.code,
    );
  }

  function count({ serverId, lastMs, calls, failures }: ServerUse): void {
    run(
      `UPDATE mcp_servers SET last_used = ?, total_invocations = total_invocations + ?,
         total_failures = total_failures + ? WHERE id = ?`,
      new Date(lastMs).toISOString(),
      calls,
      failures,
      serverId,
    );
  }

  function prune(): void {
    sincePrune = 0;
    run(
      "DELETE FROM mcp_tool_invocations WHERE timestamp < ?",
      new Date(clock.now() - KEPT_DAYS * DAY_MS).toISOString(),
    );
    run(
      `DELETE FROM mcp_tool_invocations WHERE id <=
         (SELECT id FROM mcp_tool_invocations ORDER BY id DESC LIMIT 1 OFFSET ? + 0)`,
      MAX_KEPT_INVOCATIONS,
    );
  }

  return {
    add: (invocation) => {
      learned?.add(statsRow(invocation));
      unwritten.push(invocation);
      if (unwritten.length >= MAX_UNWRITTEN) writeBehind();
      else stopWaiting ??= clock.after(WRITE_AFTER_MS, writeBehind);
    },
    noteServers: (servers) =>
      acting("noting servers", () => {
        run("UPDATE mcp_servers SET enabled = 0");
        for (const server of servers) {
          run(
            `INSERT INTO mcp_servers (id, name, config, enabled, added_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (id) DO UPDATE SET name = ?2, config = ?3, enabled = ?4`,
            server.id,
            server.name,
            JSON.stringify(server),
            server.enabled ? 1 : 0,
            isoTime(clock),
          );
        }
      }),
    stats: async () => {
      await write();
      return reading("reading statistics", () => {
        const servers = all<ServerRow>(SELECT_SERVERS).map((row) => ({ ...row, enabled: row.enabled === 1 }));
        return HubStats.parse({ servers, tools: summed(newest()) });
      });
    },
    usualUnits: (toolName) => known().usualUnits(toolName),
    close: async () => {
      await write().catch(() => undefined);
      await store.close();
    },
  };
}

type ServerUse = { readonly serverId: string; lastMs: number; calls: number; failures: number };

/** One for each server that was called. */
function usesIn(rows: readonly HubInvocation[]): Iterable<ServerUse> {
  const uses = new Map<string, ServerUse>();
  for (const { serverId, atMs, outcome } of rows) {
    const use = uses.get(serverId) ?? { serverId, lastMs: atMs, calls: 0, failures: 0 };
    uses.set(serverId, use);
    use.lastMs = Math.max(use.lastMs, atMs);
    use.calls += 1;
    if ("error" in outcome) use.failures += 1;
  }
  return uses.values();
}

type ServerRow = { readonly enabled: number };

function statsRow({ toolName, serverId, durationMs, energyUnits, outcome }: HubInvocation): StatsRow {
  const code = "error" in outcome ? outcome.error.code : null;
  return { tool: toolName, serverId, durationMs, units: energyUnits, code };
}

function cut(text: string): string {
  return text.length <= MAX_KEPT_CHARS ? text : `${text.slice(0, MAX_KEPT_CHARS)}… (${String(text.length)} characters)`;
}

/** Where the gate has put it whole. */
function blobOf(result: unknown): string | null {
  const text = JSON.stringify(result) ?? "null";
  if (text.length * 3 <= INLINE_LIMIT_BYTES) return null;
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= INLINE_LIMIT_BYTES ? null : sha256Hex(bytes);
}

const SELECT_STATS = `SELECT tool_name AS tool, server_id AS serverId, duration_ms AS durationMs,
  energy_consumed AS units, CASE success WHEN 1 THEN NULL ELSE coalesce(error_code, 'tool_failed') END AS code
  FROM mcp_tool_invocations`;
const SELECT_SERVERS = `SELECT id, name, enabled, added_at AS addedAt, last_used AS lastUsed,
  total_invocations AS totalInvocations, total_failures AS totalFailures FROM mcp_servers ORDER BY id`;
