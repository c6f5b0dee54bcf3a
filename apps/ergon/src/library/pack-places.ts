import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { didYouMean } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import type { CapabilityPlace } from "../services/capability-report.ts";

/** Where the tools and plans of the named packs are. Throws `input_invalid` for a name that no pack has. */
export function packPlaces(packs: string, names: readonly string[]): readonly CapabilityPlace[] {
  const kinds = ["tools", "plans"].map((kind) => join(packs, kind));
  const known = [...new Set(kinds.flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : [])))].sort();
  return [...new Set(names)].flatMap((name) => {
    if (!known.includes(name)) {
      const hint = didYouMean(name, known) || ` There are: ${known.join(", ")}.`;
      throw usageError("input_invalid", `There is no pack "${name}".${hint}`);
    }
    const folders = kinds.map((folder) => join(folder, name)).filter((folder) => existsSync(folder));
    return folders.map((folder) => ({ folder, source: "builtin" as const }));
  });
}
