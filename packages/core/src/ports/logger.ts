export type LogFields = Readonly<Record<string, unknown>>;

/** Structured logging. Fields first, as pino does; implementations redact and never throw. */
export type Logger = {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
};
