import type { Tool } from "../../tools/tool.ts";
import { createValueChecker, type ValueChecker } from "./partial/check-value.ts";

/** What preflight needs of a registry. */
export type ToolLookup = {
  get(id: string): Tool | undefined;
  list(): readonly Tool[];
  whyAbsent?(id: string): string | undefined;
};

/** Each tool is looked up and prepared once, however many steps call it. */
export type ToolIndex = {
  readonly get: (id: string) => Tool | undefined;
  readonly ids: () => readonly string[];
  readonly whyAbsent: (id: string) => string | undefined;
  readonly argumentsOf: (tool: Tool) => ValueChecker;
};

export function createToolIndex(registry: ToolLookup): ToolIndex {
  const tools = new Map<string, Tool | undefined>();
  const checkers = new Map<Tool, ValueChecker>();
  let ids: readonly string[] | undefined;
  return {
    get: (id) => {
      if (!tools.has(id)) tools.set(id, registry.get(id));
      return tools.get(id);
    },
    ids: () => {
      ids ??= registry.list().map((tool) => tool.id);
      return ids;
    },
    whyAbsent: (id) => registry.whyAbsent?.(id),
    argumentsOf: (tool) => {
      const known = checkers.get(tool) ?? createValueChecker(tool.parameters);
      checkers.set(tool, known);
      return known;
    },
  };
}
