import { createRequire } from "node:module";
import type { Logger } from "@ergon/core";
import type { LogFields } from "@ergon/core/store-kit";
import type * as Pino from "pino";
import { redact, redactText } from "./redact.ts";

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type PinoLoggerOptions = {
  readonly level: LogLevel;
  /** Takes one line at a time. */
  readonly write: (line: string) => void;
};

/** Logs JSON lines through pino, which is loaded with the first line that the level lets through. */
export function createPinoLogger({ level, write }: PinoLoggerOptions): Logger {
  let root: Pino.Logger | undefined;
  const load = (): Pino.Logger => (root ??= loadPino()({ level, base: null }, { write }));
  return childLogger(level, load, []);
}

function childLogger(level: LogLevel, load: () => Pino.Logger, bound: readonly LogFields[]): Logger {
  const log = (at: "debug" | "info" | "warn" | "error") => {
    return (fields: LogFields, message: string): void => {
      if (LOG_LEVELS.indexOf(at) < LOG_LEVELS.indexOf(level)) return;
      try {
        load()[at](Object.assign({}, ...[...bound, fields].map(redact)) as LogFields, redactText(message));
      } catch {
        // A log line that cannot be written must not become the caller's failure.
        return;
      }
    };
  };
  return {
    debug: log("debug"),
    info: log("info"),
    warn: log("warn"),
    error: log("error"),
    child: (fields) => childLogger(level, load, [...bound, fields]),
  };
}

/** Synchronous, because the Logger port is. */
function loadPino(): typeof Pino.pino {
  const module = createRequire(import.meta.url)("pino") as typeof Pino;
  return module.pino;
}
