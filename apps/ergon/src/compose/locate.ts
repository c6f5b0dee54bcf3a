import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SharedModules } from "@ergon/node";

/** Built files lie beside the entry; sources lie in the workspace around it. */
export function locate(home: string): {
  readonly packs: string;
  readonly schema: string;
  readonly shared: SharedModules;
} {
  if (!isBuilt(home)) {
    const names = ["zod", "zod/v4", "@ergon/core", "@ergon/core/testing"];
    const shared = Object.fromEntries(names.map((name) => [name, import.meta.resolve(name)]));
    const root = join(home, "../../..");
    return { packs: join(root, "capabilities"), schema: join(root, "supabase"), shared };
  }
  const built = {
    zod: "zod.js",
    "zod/v4": "zod.js",
    "@ergon/core": "core.js",
    "@ergon/core/testing": "core-testing.js",
  };
  const shared = Object.entries(built).map(([name, file]) => [name, pathToFileURL(join(home, file)).href]);
  return {
    packs: join(home, "capabilities"),
    schema: join(home, "supabase"),
    shared: Object.fromEntries(shared) as SharedModules,
  };
}

export function isBuilt(home: string): boolean {
  return existsSync(join(home, "core.js"));
}

/** What runs inside the sandbox's processes. */
export function bundleIn(home: string): string {
  if (isBuilt(home)) return join(home, "sandbox");
  return fileURLToPath(new URL("sandbox/child", import.meta.resolve("@ergon/node")));
}
