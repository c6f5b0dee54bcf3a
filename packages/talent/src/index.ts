import { readFileSync } from "node:fs";

export type { PGlite } from "@electric-sql/pglite";
export { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
export { vector } from "@electric-sql/pglite/vector";
export { App } from "@supabase/lite";
export { createPgliteConnection } from "@supabase/lite/pglite";

export function liteVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.resolve("@supabase/lite")), "utf8");
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
