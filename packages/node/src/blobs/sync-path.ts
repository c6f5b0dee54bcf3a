import { closeSync, fsyncSync, openSync } from "node:fs";

/** A file, or a folder with the names in it, is on the disk afterwards. */
export function syncPath(path: string): void {
  // Windows cannot sync a folder and does without.
  if (process.platform === "win32") return;
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
