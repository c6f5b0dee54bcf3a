import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { storeError } from "@ergon/core/schema";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { takeOverToken } from "../tokens/first-token.ts";
import { claimFolder } from "./claim-folder.ts";
import { homeOf } from "./known-folders.ts";
import { type FolderPlace, judgeFolder } from "./trust-folder.ts";

/** Makes the folder and its id when they are absent, for work beside its owner. */
export async function prepareFolder(place: FolderPlace): Promise<void> {
  const claim = await claimFolder(place);
  if (claim.kind === "owner") await claim.release();
}

/** A person says that the folder is theirs: from now on it is used when it is found. Throws what makes it unusable. */
export async function trustFolder(place: Omit<FolderPlace, "isNamed">): Promise<void> {
  const named = { ...place, isNamed: true };
  describeFolder(place.path);
  await prepareFolder(named);
  const verdict = judgeFolder(named);
  if (verdict.kind === "known") return takeOverToken(homeOf(place.stateFolder, verdict.id), place.path);
  const message = `${place.path} could not be registered in ${place.stateFolder}. Make that folder writable, or end the process that owns the data folder.`;
  throw storeError("store_unavailable", message, { details: { folder: place.path } });
}

export const MAX_ENTRIES_SHOWN = 200;

export type FolderDescription = {
  readonly folder: string;
  readonly uid: number;
  readonly mode: string;
  /** Of which the first are listed, by name. */
  readonly count: number;
  readonly entries: readonly FolderEntry[];
};

type FolderEntry = {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
  readonly uid: number;
  readonly mode: string;
  readonly bytes: number;
  readonly modifiedAt: string;
};

/** What a person should see before they trust a folder. Nothing in it is opened. */
export function describeFolder(path: string): FolderDescription {
  try {
    const { uid, mode } = lstatSync(path);
    const names = readdirSync(path).sort();
    const entries = names.slice(0, MAX_ENTRIES_SHOWN).map((name) => entryOf(path, name));
    return { folder: path, uid, mode: modeOf(mode), count: names.length, entries };
  } catch (thrown) {
    throw fromFileSystem(thrown, `looking at ${path}`);
  }
}

function entryOf(folder: string, name: string): FolderEntry {
  const found = lstatSync(join(folder, name));
  const kind = found.isFile() ? "file" : found.isDirectory() ? "folder" : found.isSymbolicLink() ? "link" : "other";
  const { uid, mode, size: bytes, mtime } = found;
  return { name, kind, uid, mode: modeOf(mode), bytes, modifiedAt: mtime.toISOString() };
}

function modeOf(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
