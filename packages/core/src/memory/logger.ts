import type { LogFields, Logger } from "../ports/logger.ts";
import { isSecretEntry, REDACTED, redactSecrets } from "../schema/values/redact.ts";

/** Older entries make room past this many. */
export const MAX_KEPT_LOG_ENTRIES = 10_000;

type LogEntry = { readonly level: LogLevel; readonly message: string; readonly fields: LogFields };
type LogLevel = "debug" | "info" | "warn" | "error";
export type MemoryLogger = Logger & { readonly entries: () => readonly LogEntry[] };

/** Keeps what was logged, so that a test or an edge function can look at it. */
export function createMemoryLogger(): MemoryLogger {
  const entries: LogEntry[] = [];
  const keep = (entry: LogEntry): void => {
    if (entries.length >= MAX_KEPT_LOG_ENTRIES) entries.shift();
    entries.push(entry);
  };
  return { ...loggerInto(keep, {}), entries: () => entries };
}

/** For whoever must pass a logger and wants none. */
export const silentLogger: Logger = loggerInto(() => {}, {});

function loggerInto(keep: (entry: LogEntry) => void, inherited: LogFields): Logger {
  const at = (level: LogLevel) => (fields: LogFields, message: string) =>
    keep({ level, message: redactSecrets(message), fields: { ...inherited, ...readable(fields) } });
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (fields) => loggerInto(keep, { ...inherited, ...readable(fields) }),
  };
}

/** A copy as JSON, secrets out. Whatever cannot be read is named rather than thrown: a log line breaks nothing. */
function readable(fields: LogFields): LogFields {
  try {
    const text = JSON.stringify(fields, (key, value: unknown) => {
      if (typeof value === "string") return isSecretEntry(key, value) ? REDACTED : redactSecrets(value);
      if (value instanceof Error) return { name: value.name, message: value.message };
      return typeof value === "bigint" ? String(value) : value;
    });
    return JSON.parse(text) as LogFields;
  } catch (thrown) {
    return { unreadable: thrown instanceof Error ? thrown.message : "a field could not be read" };
  }
}
