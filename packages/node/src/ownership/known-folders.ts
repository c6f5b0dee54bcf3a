/*
 * Which data folders this user's Ergon made or was told to trust. Each has a folder of its own in the user's state
 * folder, named by its id, with its place and its tokens; so two processes never write the same file for two data folders.
 */
import { randomBytes } from "node:crypto";
import { lstatSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { storeError } from "@ergon/core/schema";
import { z } from "zod";
import { errnoOf } from "../blobs/file-errors.ts";
import { replacePrivateFile } from "../tokens/private-file.ts";
import { readOwnFile } from "./own-file.ts";

export const MAX_KNOWN_FOLDERS = 1_000;
/** A folder may be on a disk that is not mounted: it stays known for so long after its last use. */
export const FORGOTTEN_AFTER_MS = 30 * 86_400_000;
/** A folder becomes known a moment before it is there. */
const BEING_MADE_MS = 10_000;

/** Where a data folder was when it was last entered. */
export type KnownFolder = { readonly path: string; readonly dev: string; readonly ino: string };
const KnownFolder = z.object({ path: z.string(), dev: z.string(), ino: z.string() });

const MAX_FILE_BYTES = 64 * 1024;
const ID = /^[0-9a-f]{32}$/;
const ID_FILE = "id";

export function newFolderId(): string {
  return randomBytes(16).toString("hex");
}

/** The id that lies in a data folder; undefined when there is none, or what lies there is no id of Ergon's. */
export function readFolderId(dataDir: string): string | undefined {
  const text = readOwnFile(join(dataDir, ID_FILE), MAX_FILE_BYTES)?.toString("utf8").trim();
  return text !== undefined && ID.test(text) ? text : undefined;
}

export async function writeFolderId(dataDir: string, id: string): Promise<void> {
  await replacePrivateFile(join(dataDir, ID_FILE), `${id}\n`);
}

/** What belongs to a data folder and is kept outside of it. */
export function homeOf(stateFolder: string, id: string): string {
  return join(stateFolder, "folders", id);
}

export function findFolder(stateFolder: string, id: string): KnownFolder | undefined {
  try {
    const bytes = readOwnFile(placeFile(stateFolder, id), MAX_FILE_BYTES);
    return bytes === undefined ? undefined : KnownFolder.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    // An entry that cannot be read vouches for nothing; the person is asked again.
    return undefined;
  }
}

/** Remembers where the folder is; the path must be real. Throws what the file system says. */
export async function keepFolder(stateFolder: string, id: string, folder: KnownFolder): Promise<void> {
  const known = findFolder(stateFolder, id);
  const file = placeFile(stateFolder, id);
  if (known !== undefined && isSame(known, folder) && known.path === folder.path) {
    const now = new Date();
    utimesSync(file, now, now);
    return;
  }
  if (known === undefined) forgetGone(stateFolder);
  await replacePrivateFile(file, `${JSON.stringify(folder)}\n`);
}

export function isSame(known: Pick<KnownFolder, "dev" | "ino">, place: Pick<KnownFolder, "dev" | "ino">): boolean {
  return known.dev === place.dev && known.ino === place.ino;
}

export function placeOf(path: string): Pick<KnownFolder, "dev" | "ino"> {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return { dev: String(dev), ino: String(ino) };
}

export function forgetFolder(stateFolder: string, id: string): void {
  rmSync(homeOf(stateFolder, id), { recursive: true, force: true });
}

function placeFile(stateFolder: string, id: string): string {
  return join(homeOf(stateFolder, id), "folder.json");
}

/** Makes room for one more: folders that are gone are forgotten after a month, or at once when there are too many. */
function forgetGone(stateFolder: string): void {
  const ids = knownIds(stateFolder);
  const oldest = Date.now() - (ids.length < MAX_KNOWN_FOLDERS ? FORGOTTEN_AFTER_MS : BEING_MADE_MS);
  const gone = ids.filter((id) => lastUsed(stateFolder, id) < oldest && !isThere(findFolder(stateFolder, id)));
  for (const id of gone) forgetFolder(stateFolder, id);
  if (ids.length - gone.length < MAX_KNOWN_FOLDERS) return;
  const message = `${join(stateFolder, "folders")} already knows ${String(MAX_KNOWN_FOLDERS)} data folders. Remove those that you no longer use.`;
  throw storeError("store_unavailable", message);
}

function knownIds(stateFolder: string): string[] {
  try {
    return readdirSync(join(stateFolder, "folders")).filter((name) => ID.test(name));
  } catch (thrown) {
    if (errnoOf(thrown) === "ENOENT") return [];
    throw thrown;
  }
}

function lastUsed(stateFolder: string, id: string): number {
  const files = [placeFile(stateFolder, id), homeOf(stateFolder, id)];
  return files.map((path) => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs).find((at) => at !== undefined) ?? 0;
}

function isThere(known: KnownFolder | undefined): boolean {
  return known !== undefined && lstatSync(known.path, { throwIfNoEntry: false }) !== undefined;
}
