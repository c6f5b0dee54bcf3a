import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { SharedModules } from "@ergon/node";

/** What users' files may import, and the built file of each. */
const SHARED = {
  zod: "zod",
  "zod/v4": "zod",
  ergon: "index",
  "@ergon/core": "core",
  ...Object.fromEntries(
    ["spec", "schema", "store-kit", "engine", "planner", "hub", "conversation", "testing"].map((entry) => [
      `@ergon/core/${entry}`,
      `core-${entry}`,
    ]),
  ),
};

/** Built files lie beside the entry; sources lie in the workspace around it. */
export function locate(home: string): {
  readonly packs: string;
  readonly schema: string;
  readonly shared: SharedModules;
} {
  const built = isBuilt(home);
  const shared = Object.entries(SHARED).map(([name, file]) => {
    return [name, built ? pathToFileURL(join(home, `${file}.js`)).href : import.meta.resolve(name)];
  });
  const root = built ? home : join(home, "../../..");
  return {
    packs: join(root, "capabilities"),
    schema: join(root, "supabase"),
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
