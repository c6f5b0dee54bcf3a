import type { ErrorValue } from "@ergon/core/schema";
import { oneLine, printable } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

export type ShownError = Pick<ErrorValue, "code" | "message"> & {
  readonly details?: ErrorValue["details"] | undefined;
};

/** What is beyond this is counted, not shown. */
const MAX_FINDINGS = 50;

/** For machines one document on stdout, for people a sentence on stderr, and all that was found with its place. */
export function printError(terminal: Terminal, error: ShownError): void {
  const { code, message, details } = error;
  if (terminal.json) {
    terminal.printJson({ error: details === undefined ? { code, message } : { code, message, details } });
    return;
  }
  terminal.note(`${terminal.errorColors.red("error:")} ${printable(message)}`);
  const findings = findingsIn(details).filter((finding) => !message.includes(finding.message));
  for (const finding of findings.slice(0, MAX_FINDINGS)) terminal.note(`  ${oneLine(describe(finding))}`);
  if (findings.length > MAX_FINDINGS)
    terminal.note(`  … and ${findings.length - MAX_FINDINGS} more; --json shows all.`);
}

/** What is wrong with the whole has no place in it. */
function describe({ path, message }: Finding): string {
  return path === "" ? message : `${path}: ${message}`;
}

type Finding = { readonly path: string; readonly message: string };

/** Plans have problems, other input has issues. */
function findingsIn(details: ErrorValue["details"] | undefined): readonly Finding[] {
  const listed = details?.["problems"] ?? details?.["issues"];
  return Array.isArray(listed) ? listed.filter(isFinding) : [];
}

function isFinding(value: unknown): value is Finding {
  if (typeof value !== "object" || value === null || !("path" in value) || !("message" in value)) return false;
  return typeof value.path === "string" && typeof value.message === "string";
}
