// Writes the types of the talent pack's database from what supabase/migrations makes.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEmbeddedDatabase } from "@ergon/node";
import { renderTypes } from "./database-types/render-types.ts";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "ergon-types-"));
const database = await openEmbeddedDatabase({ folder, schema: join(root, "supabase") });
try {
  writeFileSync(join(root, "capabilities/tools/talent/shared/database-types.ts"), await renderTypes(database.query));
} finally {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
}
