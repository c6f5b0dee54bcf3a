// Writes supabase/seed.sql from the sample data beside it. `--check` only says whether it is up to date.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seedSql } from "./seed/seed-sql.ts";

const supabase = join(import.meta.dirname, "../supabase");
const file = join(supabase, "seed.sql");
const wanted = seedSql(join(supabase, "sample"));

if (!process.argv.includes("--check")) {
  writeFileSync(file, wanted);
} else if (readFileSync(file, "utf8") !== wanted) {
  console.log("supabase/seed.sql is not what supabase/sample makes; run node scripts/make-seed.ts");
  process.exit(1);
}
