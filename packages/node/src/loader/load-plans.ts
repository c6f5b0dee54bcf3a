import { readFile, stat } from "node:fs/promises";
import { AgenticPlan, jsonProblem, pointerTo } from "@ergon/core";
import { createScanner } from "jsonc-parser";
import { parseJsonDocument } from "../config/json-document.ts";
import { type CapabilityFile, type CapabilityProblem, scanFolder } from "./scan-folder.ts";

export const MAX_PLAN_BYTES = 16 * 1024 * 1024;
export const MAX_YAML_BYTES = 2 * 1024 * 1024;
/** How often one anchor may be expanded before the document counts as an attack. */
const MAX_YAML_ALIASES = 100;

export type LoadedPlan = { readonly id: string; readonly file: string; readonly plan: AgenticPlan };
export type LoadedPlans = { readonly plans: readonly LoadedPlan[]; readonly problems: readonly CapabilityProblem[] };

/** The plans that are in a folder now, and what is wrong with the folder; of its code nothing is loaded. */
export async function folderPlans(folder: string): Promise<LoadedPlans> {
  const { files, problems } = await scanFolder(folder);
  const loaded = await loadPlans(files);
  return { plans: loaded.plans, problems: [...problems, ...loaded.problems] };
}

/** Reads and parses plan files. Whether a plan can run is preflight's question; here it is only known by its form. */
export async function loadPlans(files: readonly CapabilityFile[]): Promise<LoadedPlans> {
  const plans = new Map<string, LoadedPlan>();
  const problems: CapabilityProblem[] = [];
  for (const { kind, file } of files) {
    if (kind !== "plan") continue;
    const read = await readPlan(file);
    if ("problem" in read) {
      problems.push(read.problem);
      continue;
    }
    const { planId } = read.plan;
    const earlier = plans.get(planId);
    if (earlier === undefined) plans.set(planId, { id: planId, file, plan: read.plan });
    else problems.push(planProblem(file, `Plan "${planId}" is in ${earlier.file} already; each id stands once.`));
  }
  return { plans: [...plans.values()], problems };
}

type ReadPlan = { readonly plan: AgenticPlan } | { readonly problem: CapabilityProblem };
type Document = { readonly value: unknown } | { readonly problem: CapabilityProblem };

async function readPlan(file: string): Promise<ReadPlan> {
  const document = await readPlanDocument(file);
  if ("problem" in document) return document;
  const notJson = jsonProblem(document.value);
  if (notJson !== undefined) return { problem: planProblem(file, `It holds ${notJson}.`) };
  const parsed = AgenticPlan.safeParse(document.value);
  if (parsed.success) return { plan: parsed.data };
  const issues = parsed.error.issues.map(({ path, code, message }) => ({ path: pointerTo(path), code, message }));
  const listed = issues.map(({ path, message }) => `${path === "" ? "the plan" : path}: ${message}`).join("; ");
  return { problem: { ...planProblem(file, `It is not a plan: ${listed}`), details: { issues } } };
}

/** A plan file as it is written, for those who want to hear all that is wrong with it. */
export async function readPlanDocument(file: string): Promise<Document> {
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

function parseJson(file: string, source: string): Document {
  const document = parseJsonDocument(source);
  if (!document.ok) {
    return { problem: { ...planProblem(file, `It is not JSON: ${document.message}.`), line: document.line } };
  }
  const repeated = repeatedName(source);
  if (repeated === undefined) return { value: document.value };
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

async function parseYaml(file: string, source: string): Promise<Document> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(source, { schema: "core", version: "1.2", prettyErrors: true });
  const [fault] = [...document.errors, ...document.warnings];
  if (fault === undefined) return { value: document.toJS({ maxAliasCount: MAX_YAML_ALIASES }) as unknown };
  const line = fault.linePos?.[0].line;
  const problem = planProblem(file, `It is not usable YAML: ${fault.message.split("\n", 1)[0]?.replace(/:$/, "")}.`);
  return { problem: line === undefined ? problem : { ...problem, line } };
}

function planProblem(file: string, reason: string): CapabilityProblem {
  return { file, code: "plan_invalid", reason };
}
