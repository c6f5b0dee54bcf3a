import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { present } from "@ergon/core/schema";
import { hubError, type PackageFacts } from "@ergon/core/hub";
import { z } from "zod";
import { runNpm } from "./npm.ts";

const Viewed = z.object({
  name: z.string(),
  version: z.string(),
  mcpName: z.string().optional(),
  time: z.record(z.string(), z.string()).optional(),
  bin: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
  scripts: z.record(z.string(), z.string()).optional(),
  dist: z.object({ integrity: z.string().optional() }).optional(),
});

const INSTALL_SCRIPTS = ["preinstall", "install", "postinstall"];

/** Asks the package's registry about one exact version. */
export async function readPackageFacts(name: string, version: string, signal: AbortSignal): Promise<PackageFacts> {
  const text = await viewed(`${name}@${version}`, signal);
  const read = Viewed.safeParse(parsed(text));
  if (!read.success || read.data.name !== name || read.data.version !== version)
    throw hubError("install_failed", `There is no ${name}@${version}, or what the registry says of it cannot be read.`);
  const { dist, time, mcpName, bin, scripts = {} } = read.data;
  const program = programOf(name, bin);
  const publishedAt = time?.[version];
  return {
    name,
    version,
    ...present({ integrity: dist?.integrity, publishedAt, mcpName, program }),
    installScripts: INSTALL_SCRIPTS.filter((script) => scripts[script] !== undefined),
  };
}

/** In an empty folder: a configuration that lies around another one could name another registry. */
async function viewed(label: string, signal: AbortSignal): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "ergon-view-"));
  try {
    return await runNpm(["view", "--json", "--", label], { cwd, signal });
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** As `npx` chooses: the only one, or the one that is named like the package. */
function programOf(name: string, bin: string | Readonly<Record<string, string>> | undefined): string | undefined {
  if (bin === undefined || typeof bin === "string") return bin;
  const programs = Object.values(bin);
  return programs.length === 1 ? programs[0] : bin[name.split("/").at(-1) ?? name];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
