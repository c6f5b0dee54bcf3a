// npm run pack [-- --out DIR]: stages every published package in DIR/NAME and packs it into DIR/NAME-VERSION.tgz.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildDist } from "./build-dist.ts";
import { compile } from "./packages/compile.ts";
import { emitTypes } from "./packages/emit-types.ts";
import { publishedPackages } from "./packages/published-packages.ts";
import { stage } from "./packages/stage.ts";

const root = join(import.meta.dirname, "..");
const { values } = parseArgs({ options: { out: { type: "string" } } });
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
}
rmSync(types, { recursive: true });
