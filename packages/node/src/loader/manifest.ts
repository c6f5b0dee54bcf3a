import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { AgenticPlan, type Tool } from "@ergon/core";
import { registryError, ToolSummary } from "@ergon/core/schema";
import type { ToolBody } from "@ergon/core/engine";
import { z } from "zod";
import { type CapabilityFolder, loadFolder, type LoadOptions, loadTool } from "./load-folder.ts";
import { folderPlans, type LoadedPlans, loadPlans } from "./load-plans.ts";
import { installModuleHooks } from "./module-hooks.ts";
import { missingFor } from "./optional-packages.ts";
import { scanFolder } from "./scan-folder.ts";

export const MANIFEST_FILE = "manifest.json";

const VERSION = 2;

const ManifestTool = ToolSummary.omit({ estimatedEnergyUnits: true }).extend({
  kind: z.enum(["tool", "action"]),
  /** From the manifest's folder, with "/" between the parts. */
  file: z.string(),
  usesAI: z.boolean(),
  aliases: z.array(z.string()).exactOptional(),
  timeoutMs: z.number().exactOptional(),
  freshForMs: z.number().exactOptional(),
  energyUnits: z.number().exactOptional(),
  estimatedEnergyUnits: z.number().exactOptional(),
});
type ManifestTool = z.infer<typeof ManifestTool>;

/** What is known of a pack without loading its code: made at build, beside the built files. */
export const CapabilityManifest = z.object({
  version: z.literal(VERSION),
  tools: z.array(ManifestTool),
  plans: z.array(z.object({ file: z.string(), plan: AgenticPlan })),
});
export type CapabilityManifest = z.infer<typeof CapabilityManifest>;

/** Describes a folder for its manifest. A pack of ours that has anything broken in it is not built at all. */
export async function describeCapabilities(folder: string): Promise<CapabilityManifest> {
  const hooks = installModuleHooks({});
  try {
    const { root, files } = await scanFolder(folder);
    const loaded = await loadFolder(root, { hooks });
    const plans = await loadPlans(files);
    const broken = [...loaded.problems, ...plans.problems, ...duplicates(loaded.tools)];
    if (broken.length > 0) throw brokenPack(folder, broken);
    const inFolder = (file: string) => relative(root, file).split(sep).join("/");
    const kinds = new Map(files.map(({ kind, file }) => [file, kind]));
    const describe = (tool: Tool) => {
      const { source = "" } = tool;
      return { ...tool, kind: kinds.get(source) === "action" ? "action" : "tool", file: inFolder(source) };
    };
    const manifest = {
      version: VERSION,
      tools: loaded.tools.map(describe),
      plans: plans.plans.map(({ file, plan }) => ({ file: inFolder(file), plan })),
    };
    return CapabilityManifest.parse(manifest);
  } finally {
    hooks.remove();
  }
}

/** Loads a pack that came with Ergon: by its manifest where it was built, else like any folder. */
export async function loadPack(folder: string, options: LoadOptions): Promise<CapabilityFolder> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) return loadFolder(folder, options);
  const absent = manifest.tools.flatMap(({ id, file }) => {
    const packageName = missingFor(file.split("/")[1] ?? "");
    return packageName === undefined ? [] : [{ id, packageName }];
  });
  const tools = manifest.tools
    .filter(({ id }) => !absent.some((one) => one.id === id))
    .map((tool) => toolFromManifest(folder, tool, options.loadTimeoutMs));
  return { folder, tools, problems: [], absent };
}

/** The plans of a pack that came with Ergon, found the same way. */
export async function packPlans(folder: string): Promise<LoadedPlans> {
  const manifest = await readManifest(folder);
  if (manifest === undefined) return folderPlans(folder);
  const plans = manifest.plans.map(({ file, plan }) => ({ id: plan.planId, file: join(folder, file), plan }));
  return { plans, problems: [] };
}

/** Not checked again: the build that wrote it checked it, and lies in the same folder as the code that reads it. */
async function readManifest(folder: string): Promise<CapabilityManifest | undefined> {
  const file = join(folder, MANIFEST_FILE);
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(await readFile(file, "utf8")) as CapabilityManifest;
  if (manifest.version === VERSION) return manifest;
  throw brokenPack(folder, [
    { file, reason: `It has the version ${String(manifest.version)}, not ${String(VERSION)}.` },
  ]);
}

function toolFromManifest(folder: string, entry: ManifestTool, timeoutMs: number | undefined): Tool {
  const { kind, file, ...described } = entry;
  const source = join(folder, file);
  const body = async (): Promise<ToolBody> => {
    const loaded = await loadTool(kind, source, timeoutMs);
    if ("problem" in loaded) throw brokenPack(folder, [loaded.problem]);
    return loaded.tool.body();
  };
  return { ...described, source, body };
}

type Broken = { readonly file: string; readonly reason: string };

function duplicates(tools: readonly Tool[]): Broken[] {
  const first = new Map<string, Tool>();
  return tools.flatMap((tool) => {
    const earlier = first.get(tool.id);
    first.set(tool.id, earlier ?? tool);
    return earlier === undefined
      ? []
      : [{ file: tool.source ?? "", reason: `"${tool.id}" is in ${earlier.source} too.` }];
  });
}

function brokenPack(folder: string, problems: readonly Broken[]): Error {
  const listed = problems.map(({ file, reason }) => `${file}: ${reason}`).join("\n");
  return registryError("capability_broken", `The pack ${folder} is broken.\n${listed}`, { details: { problems } });
}
