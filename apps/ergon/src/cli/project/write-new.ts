import { existsSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { usageError } from "@ergon/core/schema";
import type { ProjectFile } from "./new-parts.ts";

/** Writes files that are not there yet, all or none; then those that may replace one. */
export async function writeNew(
  folder: string,
  files: readonly ProjectFile[],
  replaced: readonly ProjectFile[] = [],
): Promise<void> {
  const taken = files.filter(({ path }) => existsSync(join(folder, path)) && path !== ".gitignore");
  if (taken.length > 0) {
    const names = taken.map(({ path }) => path).join(", ");
    throw usageError("input_invalid", `${names} in ${folder} would be overwritten. Nothing was written.`);
  }
  const written: string[] = [];
  try {
    for (const { path, text } of files) {
      const file = join(folder, path);
      // A .gitignore that is there stays as it is.
      if (existsSync(file)) continue;
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: "wx" });
      written.push(file);
    }
    for (const { path, text } of replaced) await writeFile(join(folder, path), text);
  } catch (thrown) {
    for (const file of written) await rm(file, { force: true });
    throw thrown;
  }
}
