import { toErgonError, type Tool, type ToolRegistry } from "@ergon/core";
import {
  type CapabilityFolder,
  type CapabilityProblem,
  installModuleHooks,
  loadFolder,
  loadPack,
  type SharedModules,
} from "@ergon/node";
import type { Capabilities, FolderReport } from "./capability-report.ts";

export type CapabilitySources = {
  readonly registry: ToolRegistry;
  /** The packs that come with Ergon. */
  readonly packs: string;
  /** Folders that the user named. */
  readonly named: readonly string[];
  readonly shared: SharedModules;
};

/** Loads every folder into the registry, ours first: a user's tool cannot take the name of one of ours. */
export async function loadCapabilities({ registry, packs, named, shared }: CapabilitySources): Promise<Capabilities> {
  const hooks = installModuleHooks(shared);
  const folders = [report("builtin", await loadPack(packs, { hooks }), registry)];
  for (const folder of named) folders.push(report("named", await loadFolder(folder, { hooks }), registry));
  return { registry, folders, problems: folders.flatMap(({ problems }) => problems) };
}

function report(source: FolderReport["source"], loaded: CapabilityFolder, registry: ToolRegistry): FolderReport {
  const refused = loaded.tools.flatMap((tool) => register(tool, registry));
  const problems = [...loaded.problems, ...refused];
  return { folder: loaded.folder, source, tools: loaded.tools.length - refused.length, problems, plans: loaded.plans };
}

function register(tool: Tool, registry: ToolRegistry): CapabilityProblem[] {
  try {
    registry.register(tool);
    return [];
  } catch (thrown) {
    const { code, message } = toErgonError(thrown, "capability_broken");
    return [{ file: tool.source ?? tool.id, code, reason: message }];
  }
}
