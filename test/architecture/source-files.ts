import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** Files that are, or are about to be, part of the repository. */
export function repositoryFiles(pattern = /./): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  return listed.split("\0").filter((file) => file !== "" && pattern.test(file) && existsSync(join(root, file)));
}

export function readText(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

export function readJson(file: string): unknown {
  return JSON.parse(readText(file));
}

/** Without its comments. A string that looks like one is taken for one too, up to the end of its line. */
export function codeOf(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/\/\/.*$/gm, "");
}
