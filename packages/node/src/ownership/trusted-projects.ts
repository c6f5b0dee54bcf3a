/*
 * Folders whose `ergon.config.json` this user's Ergon reads. The file chooses code and servers that run with the user's
 * rights, so a folder counts only if `ergon init` made the file or the user ran `ergon trust`.
 */
import { lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { replacePrivateFile } from "../tokens/private-file.ts";
import { isSame, placeOf } from "./known-folders.ts";
import { readOwnFile } from "./own-file.ts";

export const MAX_TRUSTED_PROJECTS = 1_000;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

const TrustedProjects = z.array(z.object({ path: z.string(), dev: z.string(), ino: z.string() }));
type TrustedProjects = z.infer<typeof TrustedProjects>;

/** A folder that another one has replaced since is not the folder that was trusted. */
export function isTrustedProject(stateFolder: string, folder: string): boolean {
  try {
    const path = realpathSync(folder);
    const place = placeOf(path);
    return readTrusted(stateFolder).some((known) => known.path === path && isSame(known, place));
  } catch {
    // An entry that cannot be read vouches for nothing; the user is asked again.
    return false;
  }
}

export async function trustProject(stateFolder: string, folder: string): Promise<void> {
  const path = realpathSync(folder);
  const others = readTrusted(stateFolder).filter((known) => known.path !== path && isThere(known.path));
  const kept = others.slice(-(MAX_TRUSTED_PROJECTS - 1));
  await replacePrivateFile(listFile(stateFolder), `${JSON.stringify([...kept, { path, ...placeOf(path) }])}\n`);
}

function readTrusted(stateFolder: string): TrustedProjects {
  const bytes = readOwnFile(listFile(stateFolder), MAX_FILE_BYTES);
  return bytes === undefined ? [] : TrustedProjects.parse(JSON.parse(bytes.toString("utf8")));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function listFile(stateFolder: string): string {
  return join(stateFolder, "projects.json");
}
