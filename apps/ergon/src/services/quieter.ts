import type { Logger } from "@ergon/core";

/** For a process that ends with its command: the person who typed it is told of trouble by the command itself. */
export function quieter(logger: Logger): Logger {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.info(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => quieter(logger.child(fields)),
  };
}
