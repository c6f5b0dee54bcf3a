import { isErgonError } from "../../errors/ergon-error.ts";
import type { PlanProblem } from "../../schema/plan.ts";
import { type CompiledPointer, compilePointer } from "./compile.ts";
import { childPath } from "./json-location.ts";
import { isList, isObject } from "./json-shape.ts";
import { tooDeep } from "./limit-error.ts";
import { HISTORY_SCAN_LIMIT, MAX_POINTER_DEPTH } from "./limits.ts";
import { splitMessage } from "./message.ts";
import { asPointer } from "./template.ts";

type PointerFinding = {
  /** Where the pointer stands, as a JSONPath. */
  readonly path: string;
  readonly pointer: CompiledPointer;
  readonly first: boolean;
  readonly hasDefault: boolean;
};

export type PointerFindings = {
  readonly pointers: readonly PointerFinding[];
  /**
   * Errors: `pointer_invalid`, `pattern_invalid`, `pointer_limit`. Warnings: `history_scan`; `pointer_shape`, an object
   * that is a pointer but for its other keys; `pointer_text`, a path in a string that nothing will replace.
   */
  readonly problems: readonly PlanProblem[];
};

export type FindOptions = {
  /** The path of the value itself; `$` by default. */
  readonly at?: string;
  /** True for messages, where strings may hold `{{$.path}}`. */
  readonly messages?: boolean;
};

/** Finds every pointer in arguments, a condition or a message, and everything that is wrong with them, without throwing. */
export function pointersIn(value: unknown, options: FindOptions = {}): PointerFindings {
  const search: Search = { pointers: [], problems: [], messages: options.messages ?? false };
  const path = options.at ?? "$";
  attempt(search, path, () => look(search, value, path, 0));
  return { pointers: search.pointers, problems: search.problems };
}

type Search = { readonly pointers: PointerFinding[]; readonly problems: PlanProblem[]; readonly messages: boolean };

function look(search: Search, value: unknown, path: string, depth: number): void {
  if (depth > MAX_POINTER_DEPTH) throw tooDeep();
  if (typeof value === "string") return lookAtText(search, value, path);
  if (isList(value)) return value.forEach((item, at) => look(search, item, childPath(path, at), depth + 1));
  if (!isObject(value)) return;
  const written = asPointer(value);
  if (written !== undefined) {
    return attempt(search, path, () => {
      const hasDefault = written.fallback !== undefined;
      add(search, { path, pointer: compilePointer(written.jsonPath), first: written.first, hasDefault });
    });
  }
  const isNearly = typeof value["jsonPath"] === "string" && value["jsonPath"].startsWith("$");
  if (isNearly) warn(search, path, "pointer_shape", NEARLY_A_POINTER);
  for (const [key, item] of Object.entries(value)) {
    if (!isNearly || key !== "jsonPath") look(search, item, childPath(path, key), depth + 1);
  }
}

const NEARLY_A_POINTER =
  'This is data, not a pointer: a pointer has "jsonPath" and at most "first" (true or false) and "default" beside it.';

function lookAtText(search: Search, text: string, path: string): void {
  if (search.messages) {
    return attempt(search, path, () => {
      for (const part of splitMessage(text)) {
        if (part.kind === "text") continue;
        attempt(search, path, () => {
          add(search, { path, pointer: compilePointer(part.jsonPath), first: false, hasDefault: false });
        });
      }
    });
  }
  if (!LOOKS_LIKE_PATH.test(text)) return;
  warn(
    search,
    path,
    "pointer_text",
    'This stays text. To read a value, write {"jsonPath": "$.…"} in place of the string.',
  );
}

const LOOKS_LIKE_PATH = /^\$\.(?:context|history|promptInput)\b|\{\{\s*\$/;

function add(search: Search, finding: PointerFinding): void {
  search.pointers.push(finding);
  if (!finding.pointer.reads.some((read) => read.history?.kind === "scan")) return;
  const limit = String(HISTORY_SCAN_LIMIT);
  warn(
    search,
    finding.path,
    "history_scan",
    `"${finding.pointer.source}" sees the newest ${limit} history entries only.`,
  );
}

function warn(search: Search, path: string, code: string, message: string): void {
  search.problems.push({ path, code, message, severity: "warning" });
}

function attempt(search: Search, path: string, action: () => void): void {
  try {
    action();
  } catch (thrown) {
    if (!isErgonError(thrown)) throw thrown;
    search.problems.push({ path, code: thrown.code, message: thrown.message, severity: "error" });
  }
}
