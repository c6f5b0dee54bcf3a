import { realpathSync, statSync } from "node:fs";
import { basename, resolve, sep } from "node:path";
import type { MCPServerConfig } from "@ergon/core/hub";

export type DefaultAccessParts = {
  readonly command: string;
  readonly args: readonly string[];
  /** Where the person stands, or the folder that was named for the server. */
  readonly cwd: string;
  readonly home: string;
};

type Fenced = Pick<MCPServerConfig, "access" | "args" | "cwd">;

/**
 * What a server that a person adds may do unless they say more: read the folder it is started in, write the folders that its
 * command names, use the network. In the home folder, or above it, that would be everything: there it reads its program only.
 */
export function defaultAccess({ command, args, cwd, home }: DefaultAccessParts): Fenced | undefined {
  // A container is apart already, and its program needs what a fence takes away.
  if (/^(?:docker|podman|nerdctl)$/.test(basename(command))) return undefined;
  const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  const write = args.map((arg) => resolve(cwd, arg)).filter((path, at) => args[at]?.includes(sep) && isFolder(path));
  if (!isAround(cwd, home)) return { access: { read: [cwd], write, network: true }, args: [...args], cwd };
  const whole = args.map((arg) =>
    statSync(resolve(cwd, arg), { throwIfNoEntry: false })?.isFile() ? resolve(cwd, arg) : arg,
  );
  return { access: { write, network: true }, args: whole };
}

function isAround(folder: string, home: string): boolean {
  const [outer, inner] = [folder, home].map((path) => realpathSync(path)) as [string, string];
  return inner === outer || inner.startsWith(outer === sep ? sep : outer + sep);
}
