import { type ChatModel, toErgonError, type Tool, type ToolRegistry } from "@ergon/core";
import { packMissing } from "@ergon/core/schema";
import { createFinalizeSummary } from "@ergon/core/planner";
import {
  type CapabilityProblem,
  installModuleHooks,
  loadFolder,
  loadPack,
  type LoadOptions,
  type SharedModules,
} from "@ergon/node";
import type { Capabilities, CapabilityPlace, FolderReport } from "../services/capability-report.ts";

export type CapabilitySources = {
  readonly registry: ToolRegistry;
  readonly places: readonly CapabilityPlace[];
  readonly shared: SharedModules;
  readonly model: ChatModel | undefined;
};

/** Loads the tools and actions of every place into the registry, beside the one that needs no file. */
export async function loadCapabilities(sources: CapabilitySources): Promise<Capabilities> {
  const { registry, places, shared, model } = sources;
  const summary = createFinalizeSummary({ model });
  // A second try, after one that failed, finds it there.
  if (!registry.has(summary.id)) registry.add(summary);
  const folders: FolderReport[] = [];
  if (places.length === 0) return { registry, folders, problems: [] };
  const hooks = installModuleHooks(shared);
  for (const place of places) folders.push(await load(place, registry, { hooks }));
  return { registry, folders, problems: folders.flatMap(({ problems }) => problems) };
}

async function load(place: CapabilityPlace, registry: ToolRegistry, options: LoadOptions): Promise<FolderReport> {
  const { folder, source } = place;
  const loaded = await (source === "builtin" ? loadPack : loadFolder)(folder, options);
  for (const { id, packageName } of loaded.absent ?? []) registry.markAbsent(id, packMissing(packageName).message);
  const refused = loaded.tools.flatMap((tool) => add(tool, registry));
  const problems = [...loaded.problems, ...refused];
  return { ...place, tools: loaded.tools.length - refused.length, problems };
}

function add(tool: Tool, registry: ToolRegistry): CapabilityProblem[] {
  try {
    registry.add(tool);
    return [];
  } catch (thrown) {
    const { code, message } = toErgonError(thrown, "capability_broken");
    return [{ file: tool.source ?? tool.id, code, reason: message }];
  }
}
