import type { Dirent } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export const SCAN_LIMITS = { files: 10_000, entries: 200_000, depth: 32 } as const;
export type ScanLimits = { readonly files: number; readonly entries: number; readonly depth: number };

export type CapabilityKind = "tool" | "action" | "plan";
export type CapabilityFile = { readonly kind: CapabilityKind; readonly file: string };

/** A file or a folder that could not be taken in. It never stops the rest. */
export type CapabilityProblem = {
  readonly file: string;
  readonly code: string;
  /** A sentence for people. */
  readonly reason: string;
  readonly line?: number;
  readonly details?: Readonly<Record<string, unknown>>;
};

export type FolderScan = {
  /** The folder with every symbolic link resolved: what modules are known by. */
  readonly root: string;
  readonly files: readonly CapabilityFile[];
  readonly problems: readonly CapabilityProblem[];
};

/**
 * Finds capability files at any depth, in a stable order. `node_modules` and dot folders are not looked into. A link is
 * followed only inside the folder and to what was not seen yet, so that circles end and nothing is found twice.
 */
export async function scanFolder(folder: string, limits: ScanLimits = SCAN_LIMITS): Promise<FolderScan> {
  const root = await resolveRoot(folder);
  if (typeof root !== "string") return { root: folder, files: [], problems: [root] };
  const scan: Scan = { root, limits, files: [], problems: [], links: [], seen: new Set(), entries: 0, full: false };
  await scanDirectory(scan, root, 0);
  for (let link = scan.links.shift(); link !== undefined; link = scan.links.shift()) await followLink(scan, link);
  scan.files.sort((a, b) => (a.file < b.file ? -1 : 1));
  return { root, files: scan.files, problems: scan.problems };
}

type Place = { readonly path: string; readonly depth: number };
type Scan = {
  readonly root: string;
  readonly limits: ScanLimits;
  readonly files: CapabilityFile[];
  readonly problems: CapabilityProblem[];
  readonly links: Place[];
  readonly seen: Set<string>;
  entries: number;
  full: boolean;
};

async function resolveRoot(folder: string): Promise<string | CapabilityProblem> {
  try {
    const root = await realpath(folder);
    if ((await stat(root)).isDirectory()) return root;
    return broken(folder, "It is a file; name the folder that holds it.");
  } catch (error) {
    return broken(folder, isMissing(error) ? "This folder does not exist." : `It cannot be read: ${messageOf(error)}`);
  }
}

async function scanDirectory(scan: Scan, directory: string, depth: number): Promise<void> {
  if (scan.full || scan.seen.has(directory)) return;
  scan.seen.add(directory);
  if (depth > scan.limits.depth) {
    scan.problems.push(broken(directory, `Folders below ${scan.limits.depth} levels are not looked into.`));
    return;
  }
  for (const entry of await listDirectory(scan, directory)) {
    if (scan.full) return;
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink()) scan.links.push({ path, depth });
    else if (entry.isDirectory()) await enterFolder(scan, path, entry.name, depth);
    else takeFile(scan, path, entry.name);
  }
}

async function listDirectory(scan: Scan, directory: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true });
    scan.entries += entries.length;
    if (scan.entries > scan.limits.entries) stop(scan, directory, `More than ${scan.limits.entries} files and folders`);
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    scan.problems.push(broken(directory, `It cannot be read: ${messageOf(error)}`));
    return [];
  }
}

async function enterFolder(scan: Scan, path: string, name: string, depth: number): Promise<void> {
  if (name === "node_modules" || name.startsWith(".")) return;
  await scanDirectory(scan, path, depth + 1);
}

function takeFile(scan: Scan, path: string, name: string): void {
  const kind = kindOf(name);
  if (kind === undefined || scan.seen.has(path)) return;
  scan.seen.add(path);
  if (scan.files.length === scan.limits.files) stop(scan, path, `More than ${scan.limits.files} capability files`);
  else scan.files.push({ kind, file: path });
}

/** Links are followed after all real files: what stands at its own place is known by that name. */
async function followLink(scan: Scan, { path, depth }: Place): Promise<void> {
  if (scan.full) return;
  try {
    const target = await realpath(path);
    if (target !== scan.root && !target.startsWith(scan.root + sep)) {
      scan.problems.push(broken(path, `It is a link that leaves the folder (to ${target}); name that folder instead.`));
      return;
    }
    const name = relative(scan.root, target).split(sep).at(-1) ?? "";
    if ((await stat(target)).isDirectory()) await scanDirectory(scan, target, depth + 1);
    else takeFile(scan, target, name);
  } catch (error) {
    const circular = error instanceof Error && "code" in error && error.code === "ELOOP";
    const reason = circular ? "It is a link to itself." : `It is a link that leads nowhere: ${messageOf(error)}`;
    scan.problems.push(broken(path, reason));
  }
}

function kindOf(name: string): CapabilityKind | undefined {
  if (name === "action.ts" || name === "action.js") return "action";
  if (/.\.tool\.[tj]s$/.test(name)) return "tool";
  if (/.\.plan\.(json|ya?ml)$/.test(name)) return "plan";
  return undefined;
}

function stop(scan: Scan, file: string, what: string): void {
  if (!scan.full) scan.problems.push(broken(file, `${what}: the rest of ${scan.root} was not looked at.`));
  scan.full = true;
}

function broken(file: string, reason: string): CapabilityProblem {
  return { file, code: "capability_broken", reason };
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
