import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { type PublishedPackage, rootFolder } from "./published-packages.ts";

const RELATIVE_SOURCE = /((?:from|import|import\()\s*)"(\.{1,2}\/[^"]+)\.ts"/g;

/** Declarations of all packages in one run. Not checked: `npm run check:types` does that. */
export function emitTypes(packages: readonly PublishedPackage[], outDir: string): void {
  const compilerOptions = {
    types: ["node"],
    typeRoots: [join(rootFolder, "node_modules/@types")],
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noCheck: true,
    incremental: false,
    rootDir: rootFolder,
    outDir,
  };
  const files = packages.flatMap(({ entries }) => entries.map(({ source }) => source));
  mkdirSync(outDir, { recursive: true });
  const config = join(outDir, "tsconfig.json");
  writeFileSync(config, JSON.stringify({ extends: join(rootFolder, "tsconfig.base.json"), compilerOptions, files }));
  execFileSync(process.execPath, [join(rootFolder, "node_modules/typescript/bin/tsc"), "-p", config], {
    stdio: "inherit",
  });
}

/** The declarations that the entries of one package lead to; other packages have their own. */
export function copyTypes({ manifest, folder, entries }: PublishedPackage, types: string, target: string): void {
  const from = join(types, relative(rootFolder, folder));
  // A set is walked to its end, also while it grows.
  const files = new Set(entries.map(({ source }) => declarationOf(relative(folder, source))));
  const needsNode = manifest.dependencies?.["@types/node"] !== undefined;
  // An application need not name Node's types in its own settings.
  const reference = needsNode ? '/// <reference types="node" />\n' : "";
  for (const file of files) {
    const text = readFileSync(join(from, file), "utf8");
    for (const [, , path = ""] of text.matchAll(RELATIVE_SOURCE)) files.add(join(dirname(file), `${path}.d.ts`));
    const copy = join(target, "dist/types", file);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, reference + text.replaceAll(RELATIVE_SOURCE, '$1"$2.js"'));
  }
}

export function typesFile(target: string): string {
  return join("dist/types", declarationOf(target));
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, ".d.ts");
}
