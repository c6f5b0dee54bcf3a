// Makes a data folder this user's own: its id, its entry in the state folder, what an earlier process left in it.
import { chmodSync, lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { errnoOf, fromFileSystem } from "../blobs/file-errors.ts";
import { syncPath } from "../blobs/sync-path.ts";
import { isStaged } from "../tokens/private-file.ts";
import {
  forgetFolder,
  homeOf,
  keepFolder,
  type KnownFolder,
  newFolderId,
  placeOf,
  readFolderId,
  writeFolderId,
} from "./known-folders.ts";
import { makeFolder } from "./make-folder.ts";
import { PRIVATE_FILE_MODE } from "./own-file.ts";
import { type FolderPlace, type FolderVerdict, judgeFolder } from "./trust-folder.ts";

const PRIVATE_FOLDER_MODE = 0o700;

/** What this user's Ergon keeps about a data folder outside of it. */
export type FolderHome = {
  readonly id: string;
  /** Undefined where the state folder cannot be written. */
  readonly folder?: string;
  /** What a person should know about this start. */
  readonly notice?: string;
};

/** Before the folder is claimed: throws `folder_untrusted`; makes it when it is absent, and closes it to other users. */
export async function admitFolder(place: FolderPlace): Promise<FolderVerdict> {
  const verdict = judgeFolder(place);
  const admitted = verdict.kind === "blank" ? await makeOwn(place) : verdict;
  if ((lstatSync(place.path).mode & 0o077) !== 0) chmodSync(place.path, PRIVATE_FOLDER_MODE);
  return admitted;
}

/** By the owner: gives the folder its id and has the state folder know it. */
export async function settleFolder(place: FolderPlace, verdict: FolderVerdict): Promise<FolderHome> {
  const { path, stateFolder } = place;
  removeStaged(path);
  const id = await idFor(path, verdict);
  const notice = await keep(place, id, { path: realpathSync(path), ...placeOf(path) });
  if (notice !== undefined) return { id, notice };
  const moved = verdict.kind === "known" ? verdict.movedFrom : undefined;
  return {
    id,
    folder: homeOf(stateFolder, id),
    ...(moved === undefined ? {} : { notice: `The data folder ${path} was at ${moved} before; it is known here now.` }),
  };
}

/** The id that is there now: another process may have owned the folder since it was judged. */
async function idFor(path: string, verdict: FolderVerdict): Promise<string> {
  const found = readFolderId(path);
  const isShared = verdict.kind === "new" && verdict.isCopy && found === verdict.id;
  if (found !== undefined && !isShared) return found;
  const id = newFolderId();
  await writeFolderId(path, id);
  return id;
}

/** A state folder that cannot be written is a notice when the data folder was named, and an error when it was found. */
async function keep(
  { isNamed, stateFolder }: FolderPlace,
  id: string,
  folder: KnownFolder,
): Promise<string | undefined> {
  try {
    await keepFolder(stateFolder, id, folder);
    return undefined;
  } catch (thrown) {
    const notice = fromFileSystem(thrown, `writing to the state folder ${stateFolder}`).message;
    if (isNamed) return `${notice} Other commands reach this process only with the same ERGON_TOKEN.`;
    const remedy = "Make it writable, set XDG_STATE_HOME, or name the data folder with --data.";
    throw storeError("store_unavailable", `${notice} ${remedy}`, { details: { folder: stateFolder }, cause: thrown });
  }
}

/**
 * Made elsewhere and renamed into its place with its id in it, known to the state folder before it can be found: another
 * process that starts now must not take it for a stranger's.
 */
async function makeOwn(place: FolderPlace): Promise<FolderVerdict> {
  const { path, stateFolder } = place;
  const above = dirname(path);
  makeFolder(above);
  const id = newFolderId();
  const staged = join(above, `.ergon-${id}`);
  try {
    mkdirSync(staged, { mode: PRIVATE_FOLDER_MODE });
    await writeFolderId(staged, id);
    // So that `git add .` never takes it in.
    writeFileSync(join(staged, ".gitignore"), "*\n", { mode: PRIVATE_FILE_MODE });
  } catch {
    // Where nothing can be made beside it, there may still be an empty folder to use.
    rmSync(staged, { recursive: true, force: true });
    return inPlace(path);
  }
  try {
    await keep(place, id, { path: join(realpathSync(above), basename(path)), ...placeOf(staged) });
    renameSync(staged, path);
  } catch (thrown) {
    rmSync(staged, { recursive: true, force: true });
    forgetFolder(stateFolder, id);
    if (isErgonError(thrown)) throw thrown;
    const other = judgeFolder(place);
    return other.kind === "blank" ? inPlace(path) : other;
  }
  syncName(above);
  return { kind: "known", id };
}

/** Without it, a loss of power may take the new folder with all that is in it. A folder that may not be read cannot be synced. */
function syncName(above: string): void {
  try {
    syncPath(above);
  } catch (thrown) {
    if (errnoOf(thrown) !== "EACCES") throw thrown;
  }
}

/** Its owner gives it an id. */
function inPlace(path: string): FolderVerdict {
  makeFolder(path);
  return { kind: "new", isCopy: false };
}

/** What a process that died was writing. */
function removeStaged(path: string): void {
  for (const name of readdirSync(path).filter(isStaged)) rmSync(join(path, name), { force: true });
}
