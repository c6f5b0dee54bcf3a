import { gateError } from "../errors/gate.ts";
import { didYouMean } from "../schema/values/suggest.ts";
import type { Tool } from "./tool.ts";

/** What the gate asks of a registry. */
export type KnownTools = {
  readonly get: (id: string) => Tool | undefined;
  readonly list: () => readonly Tool[];
  /** Why a tool that could be there is not, and the remedy. */
  readonly whyAbsent?: (id: string) => string | undefined;
};

/** The role of a caller who named none. */
export const DEFAULT_ROLE = "general";

/** A tool that names no roles is for all. */
export function isForRole(tool: Pick<Tool, "applicableRoles">, role: string = DEFAULT_ROLE): boolean {
  return tool.applicableRoles.length === 0 || tool.applicableRoles.includes(role);
}

export function toolNotFound(
  id: string,
  registry: Pick<KnownTools, "list" | "whyAbsent">,
): ReturnType<typeof gateError> {
  const ids = registry.list().map((tool) => tool.id);
  const why = registry.whyAbsent?.(id);
  const more = why === undefined ? didYouMean(id, ids) : ` ${why}`;
  return gateError("tool_not_found", `There is no tool "${id.slice(0, 200)}".${more}`, {
    details: { toolId: id.slice(0, 200) },
  });
}
