/*
 * Which files data tools may read.
 *
 * F1  A file is read only when it lies below a data root, under the very name it was asked for: no link below the root, no
 *     "..", no hidden part, no address, no other spelling.
 * F2  What was opened is what was checked: the open file itself is asked where it is, so that swapping a folder for a link
 *     between the check and the opening gains nothing.
 * F3  A path outside the roots gets one answer, whether there is a file or not.
 * F4  What is Ergon's own (`deniedPaths`) is not read though it lies below a root, under none of its names.
 */
import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import type { ToolRun } from "@ergon/core";
import { dataError } from "./data-error.ts";
import { type DataFormat, EXTENSIONS, formatOf } from "./data-format.ts";
import { deniedFiles } from "./denied-files.ts";

export const MAX_FILE_BYTES = 1024 * 1024 * 1024;
const MAX_PATH_LENGTH = 4_096;

export type AllowedFile = { readonly path: string; readonly format: DataFormat; readonly handle: FileHandle };

/** Opens a file below one of the roots; the caller closes it. A relative path is looked for below each root in turn. */
export async function openAllowedFile(
  { dataRoots: roots, deniedPaths }: Pick<ToolRun, "dataRoots" | "deniedPaths">,
  filePath: string,
): Promise<AllowedFile> {
  refuseSpelling(filePath);
  const format = formatOf(filePath);
  if (format === undefined) {
    throw dataError(
      "format_unknown",
      `"${filePath}" is no file of data: its name ends in none of ${EXTENSIONS.join(", ")}.`,
    );
  }
  for (const root of roots) {
    const path = await below(root, filePath);
    if (path !== undefined) return { path, format, handle: await openChecked(path, filePath, deniedPaths) };
  }
  throw await notThere(roots, filePath);
}

function refuseSpelling(filePath: string): void {
  const reason =
    filePath === "" || filePath.length > MAX_PATH_LENGTH
      ? `a path has 1 to ${String(MAX_PATH_LENGTH)} characters`
      : /\p{Cc}/u.test(filePath)
        ? "it holds a control character"
        : /^[a-z][a-z0-9+.-]*:(?=[/\\]{2})|^(?:file|data|https?):/i.test(filePath)
          ? "it is an address, and data tools read files only"
          : /^[/\\]{2}/.test(filePath)
            ? "it names another machine"
            : filePath.split(/[/\\]/).includes("..")
              ? 'it holds ".."'
              : filePath.split(sep).some((part) => /^\.[^.]/.test(part))
                ? "hidden files and folders are not data"
                : undefined;
  if (reason !== undefined) throw refused(filePath, reason);
}

/** The real path below this root; undefined when there is no such file. */
async function below(root: string, filePath: string): Promise<string | undefined> {
  const realRoot = await realpath(root).catch(absent);
  if (realRoot === undefined) return undefined;
  const inside = insideOf([resolve(root), realRoot], filePath);
  if (inside === undefined) return undefined;
  const wanted = join(realRoot, inside);
  const found = await realpath(wanted).catch(absent);
  if (found === undefined) return undefined;
  if (found !== wanted) throw refused(filePath, "it is a link, or spelled otherwise than the file");
  if (/^\/(?:proc|sys|dev)(?:\/|$)/.test(found)) throw refused(filePath, "the system's own folders hold no data");
  return found;
}

function insideOf(roots: readonly string[], filePath: string): string | undefined {
  if (!isAbsolute(filePath)) return filePath;
  for (const root of roots) {
    const inside = relative(root, filePath);
    if (inside !== "" && !inside.startsWith("..") && !isAbsolute(inside)) return inside;
  }
  return undefined;
}

async function openChecked(path: string, filePath: string, deniedPaths: readonly string[]): Promise<FileHandle> {
  // Opening a pipe would wait for its other end.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: unknown) => {
      throw dataError("dataset_unreadable", `"${filePath}" cannot be opened: ${reasonOf(cause)}.`, { cause });
    },
  );
  try {
    const opened = await handle.stat({ bigint: true });
    if (!opened.isFile()) throw refused(filePath, "it is no regular file");
    if (!(await isAt(handle, opened, path))) throw refused(filePath, "it was replaced while it was being opened");
    if (await (await deniedFiles(deniedPaths)).hasFile(path, opened))
      throw refused(filePath, "it is Ergon's own, and no data");
    if (opened.size > MAX_FILE_BYTES) {
      throw dataError(
        "file_too_large",
        `"${filePath}" has ${String(opened.size)} bytes; a dataset may have ${String(MAX_FILE_BYTES)}.`,
      );
    }
    return handle;
  } catch (thrown) {
    await handle.close();
    throw thrown;
  }
}

/** Linux tells where an open file is; elsewhere the path must still lead, without links, to the same file. */
async function isAt(handle: FileHandle, opened: { readonly dev: bigint; readonly ino: bigint }, path: string) {
  if (process.platform === "linux") return (await readlink(`/proc/self/fd/${String(handle.fd)}`)) === path;
  const [now, real] = await Promise.all([stat(path, { bigint: true }), realpath(path)]);
  return real === path && now.dev === opened.dev && now.ino === opened.ino;
}

async function notThere(roots: readonly string[], filePath: string): Promise<Error> {
  if (roots.length === 0) {
    return dataError("path_refused", "No folder is open to data tools. Name some in ERGON_DATA_ROOTS.");
  }
  const reals = await Promise.all(roots.map(async (root) => (await realpath(root).catch(absent)) ?? root));
  const isOutside =
    isAbsolute(filePath) && insideOf([...roots.map((root) => resolve(root)), ...reals], filePath) === undefined;
  const where = "quick-data::find_data_files lists the files that may be read; ERGON_DATA_ROOTS names their folders.";
  if (isOutside) return dataError("path_refused", `"${filePath}" is outside the folders that may be read. ${where}`);
  const pattern = /[*?]/.test(filePath) ? " Patterns are not expanded: name one file." : "";
  return dataError("file_not_found", `There is no file "${filePath}".${pattern} ${where}`);
}

function refused(filePath: string, reason: string): Error {
  const shown = filePath.replaceAll(/\p{Cc}/gu, "�").slice(0, 200);
  return dataError("path_refused", `"${shown}" is not read: ${reason}.`);
}

function absent(thrown: unknown): undefined {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ENAMETOOLONG") return undefined;
  throw dataError("dataset_unreadable", `A folder cannot be looked into: ${reasonOf(thrown)}.`, { cause: thrown });
}

function reasonOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "it failed";
}
