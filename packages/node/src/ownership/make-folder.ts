import { accessSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { errnoOf, fromFileSystem } from "../blobs/file-errors.ts";

const PRIVATE_MODE = 0o700;

/**
 * Makes a folder and those above it that are absent, for this user alone; throws `store_unavailable`. Not by Node's own
 * `recursive`: on a file system that takes no folders (`/proc`) it never comes back.
 */
export function makeFolder(path: string): void {
  try {
    make(path);
  } catch (thrown) {
    throw fromFileSystem(thrown, `making the folder ${path}`);
  }
}

/** The first of these folders that is there, or can be made, and can be written; else the last. */
export function firstWritable(paths: readonly [string, ...string[]]): string {
  const isWritable = (path: string): boolean => {
    try {
      make(path);
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  return paths.find(isWritable) ?? paths[paths.length - 1] ?? paths[0];
}

function make(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  const above = dirname(path);
  if (above !== path && !existsSync(above)) make(above);
  try {
    mkdirSync(path, { mode: PRIVATE_MODE });
  } catch (thrown) {
    // Somebody else was faster; a file of that name is refused.
    if (errnoOf(thrown) !== "EEXIST" || !statSync(path).isDirectory()) throw thrown;
  }
}
