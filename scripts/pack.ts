// npm run pack [-- --out DIR] [-- --check]: stages every published package in DIR/NAME and packs it into DIR/NAME-VERSION.tgz.
// --check also judges the tarballs with publint and attw.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildDist } from "./build-dist.ts";
import { compile } from "./packages/compile.ts";
import { emitTypes } from "./packages/emit-types.ts";
import { publishedPackages } from "./packages/published-packages.ts";
import { stage } from "./packages/stage.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { out: { type: "string" }, check: { type: "boolean", default: false } } });
const out = resolve(values.out ?? join(root, "dist-packages"));
const packages = publishedPackages();

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
await buildDist();
const types = join(out, ".types");
emitTypes(packages, types);
for (const one of packages) {
  const folder = join(out, one.folderName);
  stage(one, folder);
  await compile(one, folder, types);
  const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", out];
  const file = execFileSync("npm", args, { cwd: folder, encoding: "utf8" }).trim();
  console.log(file);
  if (values.check) judge(join(out, file), one.entries.length > 0);
}
rmSync(types, { recursive: true });

function judge(tarball: string, hasTypes: boolean): void {
  run("publint", "--strict", tarball);
  if (hasTypes) run("attw", "--profile", "esm-only", "--format", "ascii", "--no-color", "--no-emoji", tarball);
}

function run(tool: string, ...args: string[]): void {
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin", tool), args, { encoding: "utf8" });
  if (status === 0) return;
  console.error(stdout);
  throw new Error(`${tool} refuses a package; its report is above.`);
}
