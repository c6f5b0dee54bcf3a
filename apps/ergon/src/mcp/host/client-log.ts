import type { JsonObject } from "@ergon/core";
import type { ServerContext } from "@modelcontextprotocol/server";

const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Where a request of the newer era says how much it wants to hear. */
const LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/** What a 2025 client hears before it has said how much it wants to hear. */
export const FIRST_LEVEL: LogLevel = "info";

/**
 * Sends a log message to the client, if it wants to hear of it: in the newer era a request says so itself, in the older
 * one the connection does (`said`).
 */
export function logToClient(
  { mcpReq }: ServerContext,
  said: LogLevel | undefined,
  message: { readonly level: LogLevel; readonly logger: string; readonly data: JsonObject },
): void {
  const envelope: { readonly [LEVEL_KEY]?: LogLevel } | undefined = mcpReq.envelope;
  const wanted = said ?? envelope?.[LEVEL_KEY];
  if (wanted === undefined || LEVELS.indexOf(message.level) < LEVELS.indexOf(wanted)) return;
  // Whoever has gone hears nothing more; that is no failure of the call.
  mcpReq.notify({ method: "notifications/message", params: message }).catch(() => undefined);
}
