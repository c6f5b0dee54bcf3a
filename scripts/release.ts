// npm run release -- VERSION: gives every package this version, dates the changelog's Unreleased part, and locks. Publishes nothing.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootFolder, workspaceManifests } from "./packages/published-packages.ts";

const version = process.argv[2] ?? "";
const changelog = join(rootFolder, "CHANGELOG.md");
const history = readFileSync(changelog, "utf8");

if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) stop("Name the version: npm run release -- 1.2.3");
if (!history.includes("\n## Unreleased\n")) stop("CHANGELOG.md has no part Unreleased: describe the release there.");
if (history.includes(`\n## ${version} `)) stop(`CHANGELOG.md has a version ${version} already.`);

for (const file of [join(rootFolder, "package.json"), ...workspaceManifests()]) {
  const manifest = readFileSync(file, "utf8");
  const ownVersion = manifest.replace(/^(  "version": )"[^"]+"/m, `$1"${version}"`);
  writeFileSync(file, ownVersion.replaceAll(/("@ergon\/[\w-]+": )"[^"]+"/g, `$1"${version}"`));
}
const today = new Date().toISOString().slice(0, 10);
writeFileSync(changelog, history.replace("\n## Unreleased\n", `\n## Unreleased\n\n## ${version} (${today})\n`));
execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts"], { cwd: rootFolder, stdio: "inherit" });

function stop(reason: string): never {
  console.error(reason);
  process.exit(2);
}
