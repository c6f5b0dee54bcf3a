/*
 * Whether a data folder may be used at all. What lies in it decides which programs start and which answers count, so a
 * folder is not used because it is there: it could have come with a repository or an archive.
 *
 * F1  A folder that was found (the default `./.ergon`) is used only if this user's Ergon made it or was told to trust it.
 * F2  A folder that was named (--data, ERGON_DATA, a caller's argument) is used without a question.
 * F3  Neither is used when it is a link, belongs to another user, is tracked by git, or holds links or others' files.
 * F4  The id in a folder is random and private: a folder with an id that this user's Ergon knows is that folder, or a copy.
 */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { type ErgonError, isErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { trackedBy } from "./git-index.ts";
import { findFolder, isSame, placeOf, readFolderId } from "./known-folders.ts";
import { folderProblem, foreignEntry } from "./own-file.ts";

/** A data folder, and where this user's Ergon keeps what it knows about it. */
export type FolderPlace = {
  readonly path: string;
  /** A person or a program chose it; it is not only where such a folder would be. */
  readonly isNamed: boolean;
  readonly stateFolder: string;
};

export type FolderVerdict =
  /** Nothing is there, or an empty folder. */
  { readonly kind: "blank" } | KnownVerdict | NewVerdict;

type KnownVerdict = { readonly kind: "known"; readonly id: string; readonly movedFrom?: string };
/** Usable where it was named, but not known yet; a copy of a known folder must not share its id. */
type NewVerdict = { readonly kind: "new"; readonly id?: string; readonly isCopy: boolean };

/** The socket that its owner holds; see hold-folder.ts. */
export const OWNER_SOCKET = "owner.sock";

/** Looks without changing anything. Throws `folder_untrusted` with what to do. */
export function judgeFolder({ path, isNamed, stateFolder }: FolderPlace): FolderVerdict {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return { kind: "blank" };
    // A file in its place is told of by those who make the folder.
    if (found.isFile()) return { kind: "blank" };
    const problem = folderProblem(found);
    if (problem !== undefined) throw refused(path, "not_own", `${path} ${problem}. ${OWN_REMEDY}`);
    const real = realpathSync(path);
    refuseTracked(path, real);
    const foreign = foreignEntry(real, (name, entry) => name === OWNER_SOCKET && entry.isSocket());
    if (foreign !== undefined) {
      const message = `${join(path, foreign)}. Ergon opens only regular files and folders of your own there. Move it away, then start again.`;
      throw refused(path, "not_own", message);
    }
    if (readdirSync(real).length === 0) return { kind: "blank" };
    const verdict = recognise(real, stateFolder);
    if (verdict.kind === "known" || isNamed) return verdict;
    throw unknown(path, real, verdict);
  } catch (thrown) {
    throw isErgonError(thrown) ? thrown : fromFileSystem(thrown, `looking at ${path}`);
  }
}

const OWN_REMEDY = "A data folder is a folder of your own: name another one with --data.";

/** F4. */
function recognise(real: string, stateFolder: string): KnownVerdict | NewVerdict {
  const id = readFolderId(real);
  const known = id === undefined ? undefined : findFolder(stateFolder, id);
  if (id === undefined) return { kind: "new", isCopy: false };
  if (known === undefined) return { kind: "new", id, isCopy: false };
  if (known.path === real) return { kind: "known", id };
  if (idAt(known.path) !== id) return { kind: "known", id, movedFrom: known.path };
  // One folder that is mounted at two places, or two folders.
  return isSame(placeOf(known.path), placeOf(real)) ? { kind: "known", id } : { kind: "new", id, isCopy: true };
}

/** What cannot be read there is not the folder that was there. */
function idAt(path: string): string | undefined {
  try {
    return readFolderId(path);
  } catch {
    return undefined;
  }
}

function refuseTracked(path: string, real: string): void {
  let repository: string | undefined;
  try {
    repository = trackedBy(real);
  } catch (thrown) {
    const said = thrown instanceof Error ? thrown.message : String(thrown);
    const message = `Ergon cannot tell whether git tracks ${path}: ${said}. Name a data folder outside of the repository with --data.`;
    throw refused(path, "tracked", message, thrown);
  }
  if (repository === undefined) return;
  const message =
    `${path} is tracked by git in ${repository}: its files could come from anyone who can change the repository. ` +
    `If it is yours, take it out with: git rm -r --cached ${shellWord(path)}. Otherwise name another folder with --data.`;
  throw refused(path, "tracked", message);
}

/** F1. */
function unknown(path: string, real: string, verdict: NewVerdict): ErgonError {
  const trust = `ergon trust ${shellWord(path)}`;
  const look = `Look at it with: ${trust} --dry-run. If it is yours, run: ${trust}. Otherwise delete it, or name another folder with --data.`;
  if (verdict.isCopy) {
    return refused(path, "copy", `${path} is a copy of a data folder that your Ergon uses elsewhere. ${look}`);
  }
  const isOld = verdict.id === undefined && lstatSync(join(real, "state.db"), { throwIfNoEntry: false }) !== undefined;
  const what = isOld
    ? "was made by Ergon 0.1.0, or it came with this folder: it has no id that your Ergon knows"
    : "was not made by your Ergon here: it may have come with a repository or an archive, and it decides what Ergon runs";
  return refused(path, isOld ? "old" : "unknown", `${path} ${what}. ${look}`);
}

function refused(path: string, reason: string, message: string, cause?: unknown): ErgonError {
  return storeError("folder_untrusted", message, { details: { folder: path, reason }, cause });
}

function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
