import { cpSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import root from "../../package.json" with { type: "json" };
import node from "../../packages/node/package.json" with { type: "json" };
import { external } from "../build-dist.ts";
import { isShared } from "./compile.ts";
import { typesFile } from "./emit-types.ts";
import { entryName, type Manifest, type PublishedPackage, rootFolder, type Versions } from "./published-packages.ts";

/** Writes all of a package but the code that is compiled for it: its manifest, README, licence and what it runs as it is. */
export function stage({ manifest, folder }: PublishedPackage, target: string): void {
  mkdirSync(target);
  cpSync(join(folder, "README.md"), join(target, "README.md"));
  cpSync(join(rootFolder, "LICENSE"), join(target, "LICENSE"));
  const copied = manifest.bin === undefined ? [] : ["bin", "dist", ...globSync("*.schema.json", { cwd: folder })];
  for (const name of copied) {
    cpSync(join(folder, name), join(target, name), { recursive: true, filter: (path) => !path.endsWith(".cache") });
  }
  writeFileSync(join(target, "package.json"), `${JSON.stringify(published(manifest, copied), null, 2)}\n`);
}

function published(manifest: Manifest, copied: readonly string[]): object {
  // npm brings the runtimes for a checkout alone: they are bigger than all the rest.
  const { devDependencies: _dev, optionalDependencies: _runtimes, scripts: _scripts, exports = {}, ...kept } = manifest;
  return {
    ...kept,
    keywords: ["agent", "mcp", "workflow", "durable-execution", "human-in-the-loop"],
    engines: root.engines,
    files: [...new Set([...copied, "dist"])],
    exports: Object.fromEntries(Object.entries(exports).map(([name, target]) => [name, compiledExport(target)])),
    dependencies: sharable(manifest.bin === undefined ? manifest.dependencies : besideBundle(manifest.dependencies)),
    publishConfig: { access: "public", provenance: true },
  };
}

function compiledExport(target: string): string | Versions {
  if (!target.endsWith(".ts")) return target;
  return { types: `./${typesFile(target)}`, default: `./dist/${entryName(target)}.js` };
}

/** The program is bundled; its library shares these with the application, and leaves the rest to node_modules as well. */
function besideBundle(dependencies?: Versions): Versions {
  const all = { ...node.dependencies, ...dependencies };
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => isShared(name) || external.some((one) => one.test(name))),
  );
}

/** An application has a zod of its own: within one major version it is the same as ours. */
function sharable({ zod, ...others }: Versions = {}): Versions {
  return zod === undefined ? others : { ...others, zod: `^${zod}` };
}
