import { readFile, stat } from "node:fs/promises";
import { createScanner, findNodeAtLocation, parseTree } from "jsonc-parser";
import { parseJsonDocument } from "../config/json-document.ts";
import type { CapabilityProblem } from "./scan-folder.ts";

export const MAX_PLAN_BYTES = 16 * 1024 * 1024;
export const MAX_YAML_BYTES = 2 * 1024 * 1024;
/** How often one anchor may be expanded before the document counts as an attack. */
const MAX_YAML_ALIASES = 100;

export type DocumentPath = readonly PropertyKey[];
/** Both from 1. */
export type Location = { readonly line: number; readonly column: number };

export type PlanDocument =
  | {
      readonly value: unknown;
      /** Where a value begins; of a value that is missing, where the nearest one around it begins. */
      readonly locate: (path: DocumentPath) => Location;
    }
  | { readonly problem: CapabilityProblem };

/** A plan file as it is written, with the place of each value: preflight reports everything that is wrong with it. */
export async function readPlanDocument(file: string): Promise<PlanDocument> {
  const isYaml = !file.endsWith(".json");
  const limit = isYaml ? MAX_YAML_BYTES : MAX_PLAN_BYTES;
  try {
    const { size } = await stat(file);
    if (size > limit) return { problem: planProblem(file, `It has ${size} bytes, more than ${limit}.`) };
    const source = await readFile(file, "utf8");
    return isYaml ? await parseYaml(file, source) : parseJson(file, source);
  } catch (error) {
    return {
      problem: planProblem(file, `It cannot be read: ${error instanceof Error ? error.message : String(error)}`),
    };
  }
}

function parseJson(file: string, source: string): PlanDocument {
  const document = parseJsonDocument(source);
  if (!document.ok) {
    return { problem: { ...planProblem(file, `It is not JSON: ${document.message}.`), line: document.line } };
  }
  const repeated = repeatedName(source);
  if (repeated === undefined) return { value: document.value, locate: locateInJson(source) };
  const { name, line } = repeated;
  const reason = `It has the name ${name} twice in one object, again at line ${line}; only one of them would count.`;
  return { problem: { ...planProblem(file, reason), line } };
}

/** The first name that an object of valid JSON has a second time. The platform's parser takes the last one silently. */
function repeatedName(source: string): { readonly name: string; readonly line: number } | undefined {
  const scanner = createScanner(source, true);
  const open: Set<string>[] = [];
  let text = "";
  let line = 0;
  while (scanner.getPosition() < source.length) {
    scanner.scan();
    const sign = source.charAt(scanner.getTokenOffset());
    if (sign === "{" || sign === "[") open.push(new Set());
    else if (sign === "}" || sign === "]") open.pop();
    else if (sign === '"') {
      text = scanner.getTokenValue();
      line = scanner.getTokenStartLine() + 1;
    } else if (sign === ":") {
      const names = open.at(-1);
      if (names?.has(text) === true) return { name: JSON.stringify(text).slice(0, MAX_SHOWN_NAME), line };
      names?.add(text);
    }
  }
  return undefined;
}

const MAX_SHOWN_NAME = 200;

async function parseYaml(file: string, source: string): Promise<PlanDocument> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(source, { schema: "core", version: "1.2", prettyErrors: true });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault === undefined) {
    const value = document.toJS({ maxAliasCount: MAX_YAML_ALIASES }) as unknown;
    return { value, locate: locate(source, (path) => startInYaml(document.getIn(path, true))) };
  }
  const line = fault.linePos?.[0].line;
  const problem = planProblem(file, `It is not usable YAML: ${fault.message.split("\n", 1)[0]?.replace(/:$/, "")}.`);
  return { problem: line === undefined ? problem : { ...problem, line } };
}

export function planProblem(file: string, reason: string): CapabilityProblem {
  return { file, code: "plan_invalid", reason };
}

/** A JSONPath as preflight writes it (`$.steps[0].toolId`), as the keys it consists of. */
export function keysOf(jsonPath: string): DocumentPath {
  return [...jsonPath.matchAll(/\.([A-Za-z_]\w*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/g)].map(
    ([, name, index, quoted]) => name ?? (index === undefined ? (JSON.parse(quoted ?? '""') as string) : Number(index)),
  );
}

function locateInJson(source: string): (path: DocumentPath) => Location {
  let root: ReturnType<typeof parseTree>;
  return locate(source, (path) => {
    // A mark at the beginning is not JSON; a space in its place keeps all offsets.
    root ??= parseTree(source.replace(/^\uFEFF/, " "));
    return root === undefined ? undefined : findNodeAtLocation(root, [...path] as (string | number)[])?.offset;
  });
}

function startInYaml(node: unknown): number | undefined {
  return (node as { range?: readonly number[] } | undefined)?.range?.[0];
}

function locate(source: string, startOf: (path: DocumentPath) => number | undefined) {
  let lineStarts: readonly number[] | undefined;
  return (path: DocumentPath): Location => {
    let offset: number | undefined;
    for (let depth = path.length; depth >= 0 && offset === undefined; depth -= 1) {
      offset = startOf(path.slice(0, depth));
    }
    const at = offset ?? 0;
    lineStarts ??= [0, ...Array.from(source.matchAll(/\n/g), ({ index }) => index + 1)];
    const line = lineStarts.findLastIndex((start) => start <= at);
    return { line: line + 1, column: at - (lineStarts[line] ?? 0) + 1 };
  };
}
