// Import directions by dependency-cruiser. It says nothing about files that it could not read, so what it saw is compared
// with what is there.
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";

type Report = {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly rule: { readonly name: string };
      readonly from: string;
      readonly to: string;
    }[];
  };
};

const folders = ["packages", "apps", "capabilities", "scripts", "test", "bench", "examples", "supabase"];

const present = globSync(`{${folders.join(",")}}/**/*.{ts,js}`, { exclude: isMade });
const { modules, summary } = cruise(folders.filter((folder) => present.some((file) => file.startsWith(folder))));
const seen = new Set(modules.map((module) => module.source));
const missed = present.filter((file) => !seen.has(file));

for (const { rule, from, to } of summary.violations) console.log(`${rule.name}: ${from} → ${to}`);
for (const file of missed) console.log(`not read: ${file}`);
console.log(`${seen.size} modules, ${summary.violations.length} wrong directions`);
process.exit(seen.size > 0 && missed.length === 0 && summary.violations.length === 0 ? 0 : 1);

function cruise(roots: readonly string[]): Report {
  const config = join(import.meta.dirname, "../.dependency-cruiser.js");
  const { stdout, stderr } = spawnSync("depcruise", ["--config", config, "--output-type", "json", ...roots], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  if (!stdout.startsWith("{")) throw new Error(`dependency-cruiser gave no report: ${stderr}`);
  return JSON.parse(stdout) as Report;
}

function isMade(path: string): boolean {
  return /(^|\/)(node_modules|dist)$/.test(path);
}
