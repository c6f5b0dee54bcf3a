/*
 * The command that starts a server behind a fence.
 *
 * 1  A server sees the machine's programs, its own program, and the folders that its `access` names. Of its own program it
 *    sees the file; a folder only where programs are installed: `bin`, `node_modules`, a Python environment.
 * 2  What is Ergon's own is masked last, wherever a folder that the server sees would show it. An installed server still
 *    reads its own folder in DATA/servers.
 * 3  The folders between one that the server may write and what is masked in it are mounts of their own: no server moves
 *    them away to put its own in their place.
 * 4  Where there is no fence it is refused: a server that was to be limited never runs without limits.
 */
import { closeSync, existsSync, mkdirSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { sha256Hex } from "@ergon/core/schema";
import { hubError, type MCPServerConfig } from "@ergon/core/hub";
import { APART, findFence, isExecutable, systemFolders } from "../../sandbox/fence.ts";
import { type Found, lookForFence } from "../../sandbox/profiles.ts";
import type { ServerCommand } from "./server-process.ts";

/** Folders that a server may read, and may write, and whether it may use the network. Nothing that is not named. */
export type ServerAccess = NonNullable<MCPServerConfig["access"]>;

export type FencedCommand = ServerCommand & {
  /** Files that are masked one by one. A mask falls off when its file is replaced: the server must then be started anew. */
  readonly maskedFiles: readonly string[];
};

export type FenceOptions = {
  /** Folders and files that no server sees. */
  readonly own: readonly string[];
  /** Where servers that may use the network keep a home of their own; without, every home is in memory. */
  readonly homes?: string | undefined;
  readonly look?: () => Promise<Found>;
};

export async function fencedCommand(
  server: ServerCommand,
  access: ServerAccess,
  { own, homes, look = lookHere }: FenceOptions,
): Promise<FencedCommand> {
  const found = await look();
  if ("missing" in found) {
    const message = `Its "access" is limited, and limits cannot be kept here: ${found.missing} It was not started.`;
    throw hubError("server_down", message, { details: { command: server.command } });
  }
  const { args, maskedFiles } = fenceArgs(server, access, { own: own.flatMap(realOwn), homes });
  return { ...server, command: found.fence.bwrap, args, maskedFiles };
}

/** What keeps servers from being started with limited access here. */
export async function limitedAccessMissing(): Promise<string | undefined> {
  const found = await lookHere();
  return "missing" in found ? found.missing : undefined;
}

/** What of Ergon's own lies in folders that an entry's `access` names; the server sees none of it. */
export function ownInAccess(
  { access = {}, cwd }: Pick<MCPServerConfig, "access" | "cwd">,
  own: readonly string[],
): readonly string[] {
  const named = [...(access.read ?? []), ...(access.write ?? [])]
    .map((path) => resolve(cwd ?? ".", path))
    .filter((path) => existsSync(path))
    .map((path) => ({ from: realpathSync(path), at: path }));
  return own.filter((path) => existsSync(path) && named.some((bind) => seenAt(bind, realpathSync(path)) !== undefined));
}

function lookHere(): Promise<Found> {
  return lookForFence(findFence);
}

/** A place of the machine, by its real path, and where the server sees it. */
type Bind = { readonly from: string; readonly at: string };

/** What programs look up to reach the network. */
const NETWORK_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates"];

function fenceArgs(
  server: ServerCommand,
  { read = [], write = [], network = false }: ServerAccess,
  { own, homes }: Pick<FenceOptions, "own" | "homes">,
): { readonly args: string[]; readonly maskedFiles: readonly string[] } {
  const { command, args, env, cwd } = server;
  const place = (folder: string): Bind => {
    const at = isAbsolute(folder) ? folder : resolve(cwd ?? ".", folder);
    return { from: existing(at), at };
  };
  const [readable, writable] = [read.map(place), write.map(place)];
  if (cwd !== undefined && ![...readable, ...writable].some(({ at }) => isWithin(at, resolve(cwd)))) {
    throw hubError("server_down", `Its "cwd" ${cwd} is in none of the folders that its "access" names.`);
  }
  const home = env["HOME"] ?? process.env["HOME"];
  const program = programBinds(server, own);
  const isInstalled = ({ from }: Bind): boolean => own.some((path) => isWithin(join(path, "servers") + sep, from));
  const inOwn = [...program, ...readable].filter(isInstalled);
  const [shown, changed] = [[...program, ...readable].filter((bind) => !isInstalled(bind)), writable];
  for (const { from, at } of [...shown, ...changed]) refuseOwn(from, at, own);
  const masks = masksFor([{ from: "/usr", at: "/usr" }, ...shown, ...changed], own);
  const fencing = [
    ...APART,
    ...(network ? ["--share-net", ...NETWORK_FILES.flatMap((file) => ["--ro-bind-try", file, file])] : []),
    "--hostname",
    "server",
    ...systemFolders(),
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    ...(home === undefined ? [] : homeArgs(home, network ? homes : undefined, server)),
    ...shown.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ...changed.flatMap((bind) => [bind, ...foldersAround(bind, own)]).flatMap(({ from, at }) => ["--bind", from, at]),
    // After the folders: one of them may be the whole machine.
    "--proc",
    "/proc",
    ...masks.folders.flatMap((at) => ["--tmpfs", at]),
    ...masks.files.flatMap(({ at }) => ["--ro-bind", "/dev/null", at]),
    ...inOwn.flatMap(({ from, at }) => ["--ro-bind", from, at]),
    ...masks.folders.flatMap((at) => ["--remount-ro", at]),
    "--chdir",
    cwd === undefined ? "/tmp" : resolve(cwd),
    "--",
    command,
    ...args,
  ];
  return { args: fencing, maskedFiles: masks.files.map(({ from }) => from) };
}

/**
 * A home of its own, where programs keep their caches. One that may use the network keeps it, because it may download its program
 * at each start. Another command has another home, so that no program runs what another one left.
 */
function homeArgs(home: string, homes: string | undefined, { command, args }: ServerCommand): readonly string[] {
  if (homes === undefined) return ["--dir", home];
  const kept = join(homes, sha256Hex(JSON.stringify([command, args])).slice(0, HOME_NAME_CHARS));
  mkdirSync(kept, { recursive: true, mode: 0o700 });
  return ["--bind", kept, home];
}
const HOME_NAME_CHARS = 32;

function masksFor(
  binds: readonly Bind[],
  own: readonly string[],
): { readonly folders: readonly string[]; readonly files: readonly Bind[] } {
  const seen = own.flatMap((from) =>
    [...new Set(binds.flatMap((bind) => seenAt(bind, from) ?? []))].map((at) => ({ from, at })),
  );
  const isFolder = ({ from }: Bind): boolean => statSync(from).isDirectory();
  return { folders: seen.filter(isFolder).map(({ at }) => at), files: seen.filter((bind) => !isFolder(bind)) };
}

/** The folders between what a bind shows and what of ours lies in it, from the outside in. */
function foldersAround(bind: Bind, own: readonly string[]): readonly Bind[] {
  const inside = own.flatMap((path) => seenAt(bind, path) ?? []).flatMap((at) => above(relative(bind.at, at)));
  return [...new Set(inside)].map((path) => ({ from: join(bind.from, path), at: join(bind.at, path) }));
}

function above(path: string): readonly string[] {
  const parts = path.split(sep).slice(0, -1);
  return parts.map((_, index) => join(...parts.slice(0, index + 1)));
}

/** Where a path of ours is seen through a bind, told by device and inode: the same folder may have several names. */
function seenAt({ from, at }: Bind, own: string): string | undefined {
  const shown = statSync(from);
  for (let path = own; ; path = dirname(path)) {
    const { dev, ino } = statSync(path);
    if (dev === shown.dev && ino === shown.ino) return join(at, relative(path, own));
    if (path === dirname(path)) return undefined;
  }
}

function refuseOwn(from: string, at: string, own: readonly string[]): void {
  const inside = own.find((path) => from !== path && seenAt({ from: path, at: path }, from) !== undefined);
  if (inside === undefined) return;
  const message = `It would see ${at}, which lies in ${inside}. That is Ergon's own: no server sees anything of it.`;
  throw hubError("server_down", message, { details: { path: at } });
}

/** The real path of something of ours; none of what is not there, or lies in another of these. */
function realOwn(path: string, _at: number, all: readonly string[]): readonly string[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  const isInAnother = all.some((other) => other !== path && existsSync(other) && isWithin(realpathSync(other), real));
  return isInAnother ? [] : [real];
}

/** The program, what its first line names, and the script that an interpreter is given. */
function programBinds({ command, args, env, cwd }: ServerCommand, own: readonly string[]): readonly Bind[] {
  const path = env["PATH"] ?? process.env["PATH"] ?? "";
  const program = findProgram(command, path, cwd);
  if (program === undefined) throw hubError("server_down", `its command "${command}" was not found`);
  const script = INTERPRETER.test(basename(command))
    ? args.map((arg) => resolve(cwd ?? ".", arg)).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile())
    : undefined;
  const files = [program, script].filter((file) => file !== undefined);
  const shells = files.flatMap((file) => findProgram(interpreterOf(file), path, cwd) ?? []);
  const paths = new Set([...files, ...shells].flatMap((file) => [file, realpathSync(file)].flatMap(visiblePart)));
  return [...paths].map((at) => ({ from: realpathSync(at), at }));

  function visiblePart(file: string): readonly string[] {
    const folder = dirname(file);
    if (SYSTEM.some((system) => isWithin(system, file))) return [];
    const modules = /^.*?\/node_modules(?=\/)/.exec(file)?.[0];
    if (modules !== undefined) return [modules];
    if (basename(folder) !== "bin" || !mayShow(folder)) return [file];
    const around = dirname(folder);
    if (existsSync(join(around, "pyvenv.cfg")) && mayShow(around)) return [around];
    const besides = join(around, "lib", "node_modules");
    return existsSync(besides) ? [folder, besides] : [folder];
  }

  /** Neither where the user works nor around anything of ours. */
  function mayShow(folder: string): boolean {
    const kept = [homedir(), process.cwd(), ...(cwd === undefined ? [] : [cwd]), ...own].filter((one) =>
      existsSync(one),
    );
    return kept.every((path) => seenAt({ from: folder, at: folder }, realpathSync(path)) === undefined);
  }
}

/** Programs that are given the file of a script. */
const INTERPRETER = /^(?:node|bun|deno|tsx|python[\d.]*|ruby|perl|php|lua[\d.]*|(?:ba|da|z)?sh)$/;
/** What every server sees anyway. */
const SYSTEM = ["/usr", "/bin", "/lib", "/lib64"];
const FIRST_LINE_BYTES = 256;

function findProgram(command: string, path: string, cwd: string | undefined): string | undefined {
  if (command === "") return undefined;
  if (command.includes("/")) return [resolve(cwd ?? ".", command)].find(isExecutable);
  return path
    .split(delimiter)
    .map((folder) => resolve(folder, command))
    .find(isExecutable);
}

/** What the first line of a script has it run by: `/usr/bin/env node` is node. */
function interpreterOf(file: string): string {
  const [line = ""] = beginningOf(file).split("\n", 1);
  const [program = "", first = "", second = ""] = line.startsWith("#!") ? line.slice(2).trim().split(/\s+/) : [];
  if (basename(program) !== "env") return program;
  return first === "-S" ? second : first;
}

function beginningOf(file: string): string {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(FIRST_LINE_BYTES);
    return bytes.subarray(0, readSync(fd, bytes)).toString("latin1");
  } finally {
    closeSync(fd);
  }
}

function existing(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  throw hubError("server_down", `Its "access" names ${path}, which is not there.`, { details: { path } });
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
