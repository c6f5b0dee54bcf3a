import { join } from "node:path";
import { rolldown } from "rolldown";
import { external } from "../build-dist.ts";
import { copyTypes } from "./emit-types.ts";
import { type PublishedPackage, rootFolder } from "./published-packages.ts";

/** Writes what a package exports, as modules and their types, into `dist` of the target. */
export async function compile(one: PublishedPackage, target: string, types: string): Promise<void> {
  if (one.entries.length === 0) return;
  const isProgram = one.manifest.bin !== undefined;
  const build = await rolldown({
    cwd: rootFolder,
    input: Object.fromEntries(one.entries.map(({ name, source }) => [name, source])),
    platform: "node",
    external: (id) => isShared(id) || (isProgram ? external.some((pattern) => pattern.test(id)) : !/^[./\0]/.test(id)),
    onLog(level, log, defaultHandler) {
      // An index names what the package itself loads late.
      if (log.code === "INEFFECTIVE_DYNAMIC_IMPORT") return;
      defaultHandler(level === "warn" ? "error" : level, log);
    },
  });
  await build.write({
    dir: join(target, "dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: isProgram ? "library/[name]-[hash].js" : "chunks/[name]-[hash].js",
  });
  await build.close();
  copyTypes(one, types, target);
}

/** One instance in an application, whichever package it imports them from. */
export function isShared(name: string): boolean {
  return name.startsWith("@ergon/") || /^zod($|\/)/.test(name);
}
