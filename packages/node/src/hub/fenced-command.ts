import { existsSync, realpathSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { hubError, type MCPServerConfig } from "@ergon/core";
import { APART, findFence, isExecutable, systemFolders } from "../sandbox/fence.ts";
import { type Found, lookForFence } from "../sandbox/profiles.ts";
import type { ServerCommand } from "./server-process.ts";

/** Folders that a server may read, and may write, and whether it may use the network. Nothing that is not named. */
export type ServerAccess = NonNullable<MCPServerConfig["access"]>;

/** What programs look up to reach the network. */
const NETWORK_FILES = ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates"];

/**
 * The command that starts a server behind a fence, with the machine's programs, its own program and what its access
 * names. Where there is no fence it is refused: a server that somebody wanted to be limited never runs without limits.
 */
export async function fencedCommand(
  server: ServerCommand,
  access: ServerAccess,
  look: () => Promise<Found> = lookHere,
): Promise<ServerCommand> {
  const found = await look();
  if ("missing" in found) {
    const message = `Its "access" is limited, and limits cannot be kept here: ${found.missing} It was not started.`;
    throw hubError("server_down", message, { details: { command: server.command } });
  }
  return { ...server, command: found.fence.bwrap, args: fenceArgs(server, access) };
}

/** What keeps servers from being started with limited access here. */
export async function limitedAccessMissing(): Promise<string | undefined> {
  const found = await lookHere();
  return "missing" in found ? found.missing : undefined;
}

function lookHere(): Promise<Found> {
  return lookForFence(findFence);
}

function fenceArgs(server: ServerCommand, { read = [], write = [], network = false }: ServerAccess): string[] {
  const { command, args, env, cwd } = server;
  const place = (folder: string) => (isAbsolute(folder) ? folder : resolve(cwd ?? ".", folder));
  const [readable, writable] = [read.map(place), write.map(place)];
  if (cwd !== undefined && ![...readable, ...writable].some((folder) => isWithin(folder, resolve(cwd)))) {
    throw hubError("server_down", `Its "cwd" ${cwd} is in none of the folders that its "access" names.`);
  }
  const home = env["HOME"] ?? process.env["HOME"];
  return [
    ...APART,
    ...(network ? ["--share-net", ...NETWORK_FILES.flatMap((file) => ["--ro-bind-try", file, file])] : []),
    "--hostname",
    "server",
    ...systemFolders(),
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "--tmpfs",
    "/tmp",
    // A home of its own, in memory: programs keep their caches there.
    ...(home === undefined ? [] : ["--dir", home]),
    ...programFolders(command, env["PATH"] ?? process.env["PATH"] ?? "").flatMap((path) => ["--ro-bind", path, path]),
    ...readable.flatMap((path) => ["--ro-bind", existing(path), path]),
    ...writable.flatMap((path) => ["--bind", existing(path), path]),
    "--chdir",
    cwd === undefined ? "/tmp" : resolve(cwd),
    "--",
    command,
    ...args,
  ];
}

/** Where the program is, and what it was installed with. */
function programFolders(command: string, path: string): readonly string[] {
  const candidates = command.includes("/") ? [command] : path.split(delimiter).map((folder) => join(folder, command));
  const file = candidates.find(isExecutable);
  if (file === undefined) return [];
  const real = realpathSync(file);
  const modules = [file, real].map((one) => join(dirname(dirname(one)), "lib", "node_modules"));
  const folders = [dirname(resolve(file)), dirname(real), ...modules.filter((folder) => existsSync(folder))];
  return [...new Set(folders)].filter((folder) => !isWithin("/usr", folder) && basename(folder) !== "");
}

function existing(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  throw hubError("server_down", `Its "access" names ${path}, which is not there.`, { details: { path } });
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
