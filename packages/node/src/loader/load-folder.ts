import type { Tool } from "@ergon/core";
import { importModule, LOAD_TIMEOUT_MS } from "./import-module.ts";
import type { ModuleHooks } from "./module-hooks.ts";
import { type CapabilityProblem, scanFolder } from "./scan-folder.ts";
import { type CodeKind, toolFromModule, type ToolOrProblem } from "./tool-from-module.ts";

/** So many files are imported at once: one that hangs costs its time limit, not a multiple of it. */
const CONCURRENT_IMPORTS = 16;

export type CapabilityFolder = {
  readonly folder: string;
  readonly tools: readonly Tool[];
  /** Of the folder and its code; the plans' own come with the plans. */
  readonly problems: readonly CapabilityProblem[];
  /** Tools of ours that need an optional package which is not installed. */
  readonly absent?: readonly { readonly id: string; readonly packageName: string }[];
};

export type LoadOptions = { readonly hooks: ModuleHooks; readonly loadTimeoutMs?: number };

/** Loads the tools and actions of a folder that the user named. What is broken is reported and left out. */
export async function loadFolder(folder: string, options: LoadOptions): Promise<CapabilityFolder> {
  const { root, files, problems } = await scanFolder(folder);
  options.hooks.addRoot(root);
  const code = files.flatMap(({ kind, file }) => (kind === "plan" ? [] : [{ kind, file }]));
  const loaded = await inTurns(code, async ({ kind, file }) => loadTool(kind, file, options.loadTimeoutMs));
  return {
    folder,
    tools: loaded.flatMap((one) => ("tool" in one ? [one.tool] : [])),
    problems: [...problems, ...loaded.flatMap((one) => ("problem" in one ? [one.problem] : []))],
  };
}

export async function loadTool(kind: CodeKind, file: string, timeoutMs = LOAD_TIMEOUT_MS): Promise<ToolOrProblem> {
  const module = await importModule(file, timeoutMs);
  if (module.ok) return toolFromModule(kind, file, module.exports);
  const problem = { file, code: "capability_broken", reason: module.reason };
  return { problem: module.line === undefined ? problem : { ...problem, line: module.line } };
}

/** Results keep the order of the items. */
async function inTurns<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += CONCURRENT_IMPORTS) {
    results.push(...(await Promise.all(items.slice(from, from + CONCURRENT_IMPORTS).map(work))));
  }
  return results;
}
