// Vitest's global set-up for the end-to-end tests: what the launcher runs is built from the sources as they are now.
import { execFileSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const sources = [
  "packages/*/{src,testing}/**/*",
  "apps/ergon/src/**/*",
  "capabilities/**/*",
  "scripts/build.ts",
  "package-lock.json",
];

export function setup(): void {
  if (builtAt() < newestSource())
    execFileSync(process.execPath, ["scripts/build.ts"], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
}

function builtAt(): number {
  return statSync(join(root, "apps/ergon/dist/cli.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function newestSource(): number {
  const isInstalled = (path: string) => path.split("/").includes("node_modules");
  const files = globSync(sources, { cwd: root, exclude: isInstalled });
  return Math.max(...files.map((file) => statSync(join(root, file)).mtimeMs));
}
