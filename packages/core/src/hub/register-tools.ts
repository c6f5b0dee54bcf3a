import { toErgonError } from "../errors/ergon-error.ts";
import type { ConnectionReport } from "../ports/mcp-connector.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import { hubTool, type HubToolSource } from "./hub-tool.ts";
import { nameTools } from "./names.ts";
import { MAX_STATUS_ERRORS, type ServerSlot } from "./server-slot.ts";

export type ToolsChange = { readonly added: readonly string[]; readonly removed: readonly string[] };

/** Brings the registry to what the server lists; a tool that did not change is not touched. */
export function registerTools(
  registry: Pick<ToolRegistry, "register" | "unregister">,
  place: ServerSlot,
  { listed, source }: { readonly listed: ConnectionReport["tools"]; readonly source: HubToolSource | undefined },
): ToolsChange {
  const { registered } = place;
  const refusals: string[] = [];
  const { named, collisions } = nameTools(place.part, listed);
  for (const { name, toolNames } of collisions) {
    const both = toolNames.map((toolName) => `"${toolName}"`).join(" and ");
    refusals.push(`Its tools ${both} would both be named "${name}"; neither can be called.`);
  }
  const added: string[] = [];
  const removed: string[] = [];
  const kept = new Set<string>();
  for (const [name, tool] of source === undefined ? [] : named) {
    try {
      const made = hubTool(name, tool, source as HubToolSource);
      const earlier = registered.get(name);
      kept.add(name);
      if (earlier !== undefined && isSame(earlier.tool, made.tool)) continue;
      if (earlier !== undefined) registry.unregister(name);
      registered.delete(name);
      registry.register(made.tool);
      registered.set(name, made);
      added.push(name);
    } catch (thrown) {
      refusals.push(toErgonError(thrown, "server_refused").message);
    }
  }
  for (const name of registered.keys()) {
    if (kept.has(name)) continue;
    registry.unregister(name);
    registered.delete(name);
    removed.push(name);
  }
  place.refusals = refusals.slice(0, MAX_STATUS_ERRORS);
  return { added, removed };
}

function isSame(a: Tool, b: Tool): boolean {
  return a.hub?.fingerprint === b.hub?.fingerprint && a.effects === b.effects;
}
