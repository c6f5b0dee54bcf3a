/*
 * The folders that servers are installed into: DATA/servers/ID. DATA may have come with a repository, so none of its
 * paths is believed.
 *
 * S1  Nothing is made or removed unless DATA/servers is a real folder of DATA, reached through no link.
 * S2  Only a folder with our marker file is removed with its contents.
 */
import { realpathSync } from "node:fs";
import { lstat, mkdir, open, realpath, rm, rmdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { hubError, type MCPServerConfig } from "@ergon/core/hub";
import { absent } from "../../blobs/file-errors.ts";

/** Lies in every folder that a server was installed into. */
const MARKER = ".ergon-server";

/** Makes the empty folder of a server, in place of one that an earlier installation left. Returns its real path. */
export async function makeServerFolder(servers: string, id: string): Promise<string> {
  await removeServerFolder(servers, id);
  const folder = join(await realServersFolder(servers), id);
  await mkdir(folder, { mode: 0o700 });
  await (await open(join(folder, MARKER), "wx", 0o600)).close();
  return folder;
}

/** Removes the folder of a server. Throws `install_refused` for one that Ergon did not make. */
export async function removeServerFolder(servers: string, id: string): Promise<void> {
  const folder = join(await realServersFolder(servers), id);
  const entry = await lstat(folder).catch(absent);
  if (entry === undefined) return;
  const marker = entry.isDirectory() ? await lstat(join(folder, MARKER)).catch(absent) : undefined;
  if (marker?.isFile() === true) return rm(folder, { recursive: true, force: true });
  // A process that died right after it made the folder left it empty.
  const isGone = entry.isDirectory() && (await rmdir(folder).then(yes, () => false));
  if (!isGone)
    throw hubError(
      "install_refused",
      `${folder} is not a folder that Ergon installed a server into (it has no ${MARKER}), so it is left alone. Look at it, remove it by hand, then ask again.`,
      { details: { folder } },
    );
}

/** Whether the sub-agent installed what this entry starts: Node with a program that really lies in the server's own folder. */
export function isInstalledServer(
  servers: string,
  { id, command, args: [program] = [] }: Pick<MCPServerConfig, "id" | "command" | "args">,
): boolean {
  if (command === undefined || program === undefined || basename(command) !== basename(process.execPath)) return false;
  try {
    const home = join(realpathSync(dirname(servers)), basename(servers), id) + sep;
    return program.startsWith(home) && realpathSync(program).startsWith(home);
  } catch {
    return false;
  }
}

/** Throws `install_refused` when the folder of all servers is not where it seems to be. */
export async function realServersFolder(servers: string): Promise<string> {
  const expected = join(await realpath(dirname(servers)), basename(servers));
  if ((await realpath(servers)) === expected) return expected;
  const message = `${servers} is a link to another place. Servers are installed into and removed from a real folder only: remove the link, then ask again.`;
  throw hubError("install_refused", message, { details: { folder: servers } });
}

function yes(): true {
  return true;
}
