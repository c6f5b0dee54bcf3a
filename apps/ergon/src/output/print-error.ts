import type { ErrorValue } from "@ergon/core";
import { printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export type ShownError = Pick<ErrorValue, "code" | "message"> & {
  readonly details?: ErrorValue["details"] | undefined;
};

/** For machines one document on stdout, for people a sentence on stderr. */
export function printError(terminal: Terminal, error: ShownError): void {
  const { code, message, details } = error;
  if (terminal.json) {
    terminal.printJson({ error: details === undefined ? { code, message } : { code, message, details } });
    return;
  }
  terminal.note(`${terminal.errorColors.red("error:")} ${printable(message)}`);
}
