import { readFileSync } from "node:fs";
import { moduleUrl, stripTypes } from "./module-hooks.ts";

export const LOAD_TIMEOUT_MS = 10_000;

export type ImportedModule =
  | { readonly ok: true; readonly exports: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly reason: string; readonly line?: number };

/** Imports one capability file. What it throws, or that it never settles, is an answer. */
export async function importModule(file: string, timeoutMs = LOAD_TIMEOUT_MS): Promise<ImportedModule> {
  let timer: NodeJS.Timeout | undefined;
  const givenUp = new Promise<ImportedModule>((resolve) => {
    const reason = `Loading it took more than ${timeoutMs / 1000} s; does it wait for something at top level?`;
    timer = setTimeout(() => resolve({ ok: false, reason }), timeoutMs);
  });
  try {
    return await Promise.race([importNow(file), givenUp]);
  } finally {
    clearTimeout(timer);
  }
}

async function importNow(file: string): Promise<ImportedModule> {
  try {
    const exports = (await import(moduleUrl(file))) as Record<string, unknown>;
    return { ok: true, exports: withCommonJsNames(exports) };
  } catch (error) {
    return describeImportError(file, error);
  }
}

/** Not every name of a CommonJS file is visible from outside; its whole `module.exports` is. */
function withCommonJsNames(exports: Record<string, unknown>): Record<string, unknown> {
  const whole = exports["module.exports"];
  return typeof whole === "object" && whole !== null ? { ...exports, ...whole } : { ...exports };
}

function describeImportError(file: string, thrown: unknown): ImportedModule {
  if (!(thrown instanceof Error))
    return { ok: false, reason: `It threw ${JSON.stringify(thrown) ?? String(thrown)} while loading.` };
  const { message } = thrown;
  const code = "code" in thrown ? String(thrown.code) : "";
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return { ok: false, reason: firstLine(message) };
  const missing = /does not provide an export named '([^']+)'/.exec(message);
  if (missing !== null)
    return { ok: false, reason: `${firstLine(message)}. If ${missing[1]} is a type, write "import type".` };
  const place = placeOf(file, thrown);
  const kind = thrown instanceof SyntaxError ? "Syntax error" : "It threw while loading";
  const where = place === undefined ? "" : ` at line ${place}`;
  const reason = `${kind}${where}: ${firstLine(message)}`;
  return place === undefined ? { ok: false, reason } : { ok: false, reason, line: place };
}

/** The line in the file itself: from the stack, or, for syntax that only V8 complained about, by parsing once more. */
function placeOf(file: string, error: Error): number | undefined {
  return lineIn(error.stack ?? "", file) ?? (error instanceof SyntaxError ? lineOfSyntaxError(file) : undefined);
}

function lineOfSyntaxError(file: string): number | undefined {
  try {
    stripTypes(readFileSync(file, "utf8"), moduleUrl(file));
    return undefined;
  } catch (error) {
    return error instanceof Error ? lineIn(error.stack ?? "", file) : undefined;
  }
}

function lineIn(stack: string, file: string): number | undefined {
  for (const name of [moduleUrl(file), file]) {
    const from = stack.indexOf(`${name}:`);
    const line = from < 0 ? null : /^\d+/.exec(stack.slice(from + name.length + 1));
    if (line !== null) return Number(line[0]);
  }
  return undefined;
}

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}
