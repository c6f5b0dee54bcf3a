import { type Tool, toErgonError } from "@ergon/core";
import { adaptAction, adaptPureTool, adaptTool } from "@ergon/core/engine";
import type { CapabilityKind, CapabilityProblem } from "./scan-folder.ts";

export type ToolOrProblem = { readonly tool: Tool } | { readonly problem: CapabilityProblem };
export type CodeKind = Exclude<CapabilityKind, "plan">;
type Exports = Readonly<Record<string, unknown>>;

/** Makes a tool of what a capability file exports, or says what is wrong with the file. */
export function toolFromModule(kind: CodeKind, file: string, exports: Exports): ToolOrProblem {
  try {
    return kind === "tool" ? toolOf(file, exports) : action(file, exports);
  } catch (thrown) {
    const { code, message, details } = toErgonError(thrown, "capability_broken");
    const problem = { file, code, reason: message };
    return { problem: details === undefined ? problem : { ...problem, details } };
  }
}

function toolOf(file: string, exports: Exports): ToolOrProblem {
  const whole = exports["default"];
  if (isDefined(whole)) return { tool: adaptTool(whole, { source: file }) };
  const missing = ["definition", "implementation"].filter((name) => exports[name] === undefined);
  if (missing.length > 0) {
    return broken(
      file,
      `It does not export ${missing.join(" and ")}; a *.tool file exports definition and implementation, or defineTool(…) as its default.`,
    );
  }
  const { definition, implementation } = exports;
  return { tool: adaptPureTool({ definition, implementation }, { source: file }) };
}

/** What `defineTool` gave: CommonJS puts its whole `module.exports` there, which has neither schema. */
function isDefined(whole: unknown): boolean {
  return typeof whole === "object" && whole !== null && ("input" in whole || "argsSchema" in whole);
}

function action(file: string, exports: Exports): ToolOrProblem {
  const named = Object.entries(exports).filter(([name]) => name !== "module.exports");
  const [whole] = [exports["default"], exports["module.exports"]].filter(looksLikeAction);
  const found = [...new Set(whole === undefined ? named.map(([, value]) => value).filter(looksLikeAction) : [whole])];
  const [only] = found;
  if (only === undefined) return broken(file, "It exports no action: an object with at least id and actionFn.");
  if (found.length === 1) return { tool: adaptAction(only, { source: file }) };
  const names = named.filter(([, value]) => looksLikeAction(value)).map(([name]) => name);
  return broken(file, `It exports ${names.join(" and ")}; an action file exports one action.`);
}

/** One of the two is enough: a file that misspelt the other gets told so. */
function looksLikeAction(value: unknown): boolean {
  return typeof value === "object" && value !== null && "id" in value && ("actionFn" in value || "argsSchema" in value);
}

function broken(file: string, reason: string): ToolOrProblem {
  return { problem: { file, code: "capability_broken", reason } };
}
