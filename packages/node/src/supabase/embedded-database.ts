/*
 * A Supabase inside this process: PostgREST and Auth of @supabase/lite on PGlite with pgvector, kept in a folder.
 * All that is known of those alpha parts is known here.
 *
 * S1  The folder is made whole (tables, sample data) or made anew at the next start, however the process died.
 * S2  One request at a time: its connection is one session of Postgres, and roles are set in a transaction.
 * S3  Migrations that the folder has not seen are applied in order, each in a transaction of its own.
 * S4  A folder that was opened with the same server and the same migrations before is taken as it is.
 */
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { fromPack } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import type * as Talent from "@ergon/talent";
import { checkOwnTree } from "../ownership/own-file.ts";
import { newSecret } from "../tokens/secret.ts";
import { withBaselineWasm } from "./baseline-wasm.ts";
import { migrate, migrationsEdition } from "./migrate.ts";
import { editionOf, isReady, markReady } from "./ready-file.ts";
import { createSchemaCache } from "./schema-cache.ts";
import { createTurns } from "./turns.ts";

export type EmbeddedDatabase = {
  /** As a Supabase project would answer at its address. */
  readonly fetch: (request: Request) => Promise<Response>;
  readonly keys: { readonly publishable: string; readonly secret: string };
  /** Past all access rules; for what a test has to arrange. */
  readonly query: (sql: string, parameters?: unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Requests that were taken are answered first. */
  readonly close: () => Promise<void>;
};

export type EmbeddedDatabaseOptions = {
  readonly folder: string;
  /** Has `migrations/*.sql` and `seed.sql`. */
  readonly schema: string;
};

export async function openEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  return await withBaselineWasm(() => open(options));
}

async function open({ folder, schema }: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  // Postgres follows links, and so would what is written beside its files.
  checkOwnTree(folder);
  // Read by the library when it is loaded.
  process.env["LITE_TELEMETRY"] = "0";
  const talent = await fromPack("@ergon/talent", () => import("@ergon/talent"));
  const isNew = !isReady(folder);
  const edition = `${talent.liteVersion()} ${migrationsEdition(join(schema, "migrations"))}`;
  const isKnown = editionOf(folder) === edition;
  if (isNew) await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const connection = await connect(talent, folder, edition);
  try {
    const keys = { publishable: `sb_publishable_${newSecret()}`, secret: `sb_secret_${newSecret()}` };
    const auth = { enabled: true, jwt_secret: newSecret(), publishable_key: keys.publishable, secret_key: keys.secret };
    const app = new talent.App({ connection, auth });
    if (!isKnown) {
      await connection.driver.exec(PLATFORM_ROLES);
      await app.ensureSystemSchema();
      await connection.driver.exec("grant usage on schema auth to anon, authenticated, service_role");
      await migrate(connection.driver, join(schema, "migrations"));
      if (isNew) await connection.driver.exec(await readFile(join(schema, "seed.sql"), "utf8"));
      await markReady(folder, edition);
    }
    const inTurn = createTurns();
    return {
      fetch: (request) => inTurn(async () => app.fetch(request)),
      keys,
      query: (sql, parameters) =>
        inTurn(async () => (await connection.driver.query<Record<string, unknown>>(sql, parameters)).rows),
      close: () => inTurn(() => connection.close()),
    };
  } catch (thrown) {
    await connection.close().catch(() => undefined);
    throw unavailable(folder, thrown);
  }
}

/** Hosted projects have them from the start. */
const PLATFORM_ROLES = `do $$ begin
  if not exists (select from pg_roles where rolname = 'anon') then create role anon nologin; end if;
  if not exists (select from pg_roles where rolname = 'authenticated') then create role authenticated nologin; end if;
  if not exists (select from pg_roles where rolname = 'service_role') then create role service_role nologin bypassrls; end if;
end $$;
grant usage on schema public to anon, authenticated, service_role;`;

async function connect({ createPgliteConnection, vector, pg_trgm }: typeof Talent, folder: string, edition: string) {
  try {
    const connection = await createPgliteConnection({
      url: join(folder, "pg"),
      schemaCache: createSchemaCache(folder, edition),
      pgliteOptions: { extensions: { vector, pg_trgm } },
    });
    await connection.driver.waitReady;
    return connection;
  } catch (thrown) {
    throw unavailable(folder, thrown);
  }
}

function unavailable(folder: string, thrown: unknown): Error {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return storeError(
    "store_unavailable",
    `The embedded database in ${folder} does not open: ${reason}. Move that folder away to begin with the sample data anew.`,
    { cause: thrown, retryable: true },
  );
}
