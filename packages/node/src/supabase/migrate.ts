import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { PGlite } from "@ergon/talent";

/** Where the Supabase CLI keeps it too. */
const HISTORY = "supabase_migrations.schema_migrations";

/** Tells whether the folder has other migrations than a database that saw it before. */
export function migrationsEdition(folder: string): string {
  const hash = createHash("sha256");
  for (const { version, file } of migrationsIn(folder)) hash.update(version).update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

/** Applies what the database has not seen, in the order of its names; gives the versions that were applied. */
export async function migrate(database: PGlite, folder: string): Promise<readonly string[]> {
  await database.exec(
    `create schema if not exists supabase_migrations;
     create table if not exists ${HISTORY} (version text primary key, statements text[], name text);`,
  );
  const { rows } = await database.query<{ version: string }>(`select version from ${HISTORY}`);
  const seen = new Set(rows.map(({ version }) => version));
  const waiting = migrationsIn(folder).filter(({ version }) => !seen.has(version));
  for (const { version, name, file } of waiting) {
    const sql = readFileSync(file, "utf8");
    await database.transaction(async (transaction) => {
      await transaction.exec(sql);
      await transaction.query(`insert into ${HISTORY} (version, name, statements) values ($1, $2, $3)`, [
        version,
        name,
        [sql],
      ]);
    });
  }
  return waiting.map(({ version }) => version);
}

type Migration = { readonly version: string; readonly name: string; readonly file: string };

function migrationsIn(folder: string): Migration[] {
  const files = globSync("*.sql", { cwd: folder }).sort();
  return files.flatMap((file) => {
    const [, version, name] = /^(\d{14})_(.+)\.sql$/.exec(file) ?? [];
    return version === undefined || name === undefined ? [] : [{ version, name, file: join(folder, file) }];
  });
}
