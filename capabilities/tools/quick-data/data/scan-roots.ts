import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ToolRun } from "@ergon/core";
import { type DataFormat, formatOf, suggestedName } from "./data-format.ts";
import { deniedFiles } from "./denied-files.ts";

export const MAX_SCANNED_ENTRIES = 10_000;
export const MAX_SCAN_DEPTH = 6;
/** Folders with many json files that nobody means when speaking of data. */
const NOT_DATA = new Set(["node_modules", "dist", "build", "target", "vendor", "__pycache__"]);
const NOT_DATA_FILES =
  /^(package(-lock)?|tsconfig.*|manifest|composer|knip|deno|components|mcp-servers)\.json$|\.plan\.json$/;

export type FoundFile = {
  readonly filePath: string;
  readonly format: DataFormat;
  readonly bytes: number;
  readonly size: string;
  readonly modifiedAt: string;
  readonly suggestedName: string;
};

/**
 * Files of data below the roots, largest first; links, hidden folders and what is Ergon's own are passed over, as reading
 * them is refused. A file that is in an earlier root, too, with the same name and content, is named once: the samples may
 * lie in both.
 */
export async function scanRoots({
  dataRoots: roots,
  deniedPaths,
  signal,
}: Pick<ToolRun, "dataRoots" | "deniedPaths" | "signal">): Promise<{
  readonly files: FoundFile[];
  readonly isCut: boolean;
}> {
  const files = new Map<string, FoundFile>();
  const denied = await deniedFiles(deniedPaths);
  const byName = new Map<string, FoundFile[]>();
  let found: [string, FoundFile][] = [];
  let seen = 0;
  let isCut = false;

  const scan = async (folder: string, depth: number): Promise<void> => {
    signal.throwIfAborted();
    if (denied.hasFolder(await stat(folder, { bigint: true }))) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      seen += 1;
      if (seen > MAX_SCANNED_ENTRIES) isCut = true;
      if (isCut) return;
      if (entry.name.startsWith(".")) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !NOT_DATA.has(entry.name)) {
        if (depth < MAX_SCAN_DEPTH) await scan(path, depth + 1);
        else isCut = true;
      } else if (entry.isFile()) await note(path, entry.name);
    }
  };
  const note = async (filePath: string, name: string): Promise<void> => {
    const format = formatOf(name);
    if (format === undefined || NOT_DATA_FILES.test(name)) return;
    const facts = await stat(filePath, { bigint: true });
    if (await denied.hasFile(filePath, facts)) return;
    const size = Number(facts.size);
    const modifiedAt = facts.mtime.toISOString();
    const about = { bytes: size, size: readable(size), modifiedAt, suggestedName: suggestedName(filePath) };
    const file = { filePath, format, ...about };
    const alike = byName.get(name) ?? [];
    for (const other of alike) if (await isSame(other, file)) return;
    found.push([name, file]);
    files.set(filePath, file);
  };

  for (const root of roots) {
    found = [];
    const real = await realpath(root).catch(() => undefined);
    if (real !== undefined) await scan(real, 0);
    for (const [name, file] of found) byName.set(name, [...(byName.get(name) ?? []), file]);
  }
  return { files: [...files.values()].sort((a, b) => b.bytes - a.bytes || (a.filePath < b.filePath ? -1 : 1)), isCut };
}

/** Larger ones are not compared. */
const MAX_COMPARED_BYTES = 16 * 1024 * 1024;

async function isSame(a: FoundFile, b: FoundFile): Promise<boolean> {
  if (a.filePath === b.filePath) return true;
  if (a.bytes !== b.bytes || a.bytes > MAX_COMPARED_BYTES) return false;
  const [one, other] = await Promise.all([a, b].map(({ filePath }) => readFile(filePath).catch(() => undefined)));
  return one !== undefined && other !== undefined && one.equals(other);
}

function readable(bytes: number): string {
  if (bytes < 1_000) return `${String(bytes)} B`;
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
