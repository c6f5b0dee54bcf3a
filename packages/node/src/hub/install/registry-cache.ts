import type { Logger } from "@ergon/core";
import { type FoundServer, npmPackageOf, RegistryEntry } from "@ergon/core/hub";
import type { DatabaseSchema } from "../../sqlite/database/open-database.ts";
import { openSmallDatabase } from "../../sqlite/database/small-database.ts";
import type { RegistryClient } from "./registry-client.ts";

/** A copy older than this is brought up to date before it is searched. */
export const FRESH_MS = 60 * 60 * 1_000;
export const MAX_FOUND = 50;
const MAX_WORDS = 16;

export type RegistryCache = {
  /** The best matches first. `asOf` is when the copy was last brought up to date; `stale` when that failed now. */
  readonly search: (words: string, options: { readonly limit: number; readonly signal: AbortSignal }) => Promise<Found>;
  readonly close: () => Promise<void>;
};

export type Found = {
  readonly servers: readonly FoundServer[];
  readonly asOf: string | null;
  /** Why the copy is older than it should be. */
  readonly stale?: string;
};

export type RegistryCacheOptions = {
  readonly path: string;
  readonly client: RegistryClient;
  readonly now: () => number;
  readonly logger?: Logger;
};

/** A copy of the registry on this machine: the registry's own search knows only parts of names, and is not always there. */
export function openRegistryCache({ path, client, now, logger }: RegistryCacheOptions): RegistryCache {
  const what = "copy of the registry";
  const { all, run, acting, close } = openSmallDatabase({ path, schema: SCHEMA, what, logger });
  let updating: Promise<void> | undefined;

  const asOf = (): string | null => all<{ at: string }>("SELECT at FROM copied")[0]?.at ?? null;

  async function update(signal: AbortSignal): Promise<void> {
    const at = new Date(now()).toISOString();
    for await (const { entries } of client.list(asOf() ?? undefined, signal)) {
      await acting("copying the registry", () => {
        for (const entry of entries) put(entry);
      });
    }
    await acting("copying the registry", () => {
      run("DELETE FROM copied");
      run("INSERT INTO copied (at) VALUES (?)", at);
    });
  }

  function put(entry: RegistryEntry): void {
    const { name, title = "", description } = entry;
    const [kept] = all<{ id: number }>(
      "INSERT INTO entries (name, entry) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET entry = excluded.entry RETURNING id",
      name,
      JSON.stringify(entry),
    );
    const id = kept?.id ?? 0;
    run("DELETE FROM words WHERE rowid = ?", id);
    const packages = (entry.packages ?? []).map(({ identifier }) => identifier).join(" ");
    if (entry.status === "deleted") run("DELETE FROM entries WHERE id = ?", id);
    else
      run(
        "INSERT INTO words (rowid, name, title, description, packages) VALUES (?, ?, ?, ?, ?)",
        id,
        name,
        title,
        description,
        packages,
      );
  }

  return {
    search: async (words, { limit, signal }) => {
      let stale: string | undefined;
      const last = asOf();
      if (last === null || now() - Date.parse(last) > FRESH_MS) {
        updating ??= update(signal).finally(() => (updating = undefined));
        try {
          await updating;
        } catch (thrown) {
          if (last === null || signal.aborted) throw thrown;
          stale = thrown instanceof Error ? thrown.message : String(thrown);
        }
      }
      const query = asQuery(words);
      if (query === "") return { servers: [], asOf: asOf(), ...(stale === undefined ? {} : { stale }) };
      const rows = await acting("searching the registry", () =>
        all<{ entry: string }>(
          `SELECT entry FROM words JOIN entries ON entries.id = words.rowid
           WHERE words MATCH ? ORDER BY bm25(words, 8.0, 4.0, 2.0, 6.0), entries.name LIMIT ? + 0`,
          query,
          Math.min(limit, MAX_FOUND),
        ),
      );
      const servers = rows.map(({ entry }) => shown(RegistryEntry.parse(JSON.parse(entry))));
      return { servers, asOf: asOf(), ...(stale === undefined ? {} : { stale }) };
    },
    close,
  };
}

/** Any of the words, or what begins with one; the more, the better. */
function asQuery(words: string): string {
  const found = words.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(found)]
    .slice(0, MAX_WORDS)
    .map((word) => `"${word}"*`)
    .join(" OR ");
}

function shown(entry: RegistryEntry): FoundServer {
  const chosen = npmPackageOf(entry);
  const remote = entry.remotes?.[0]?.url;
  return {
    name: entry.name,
    ...(entry.title === undefined ? {} : { title: entry.title }),
    description: entry.description,
    version: entry.version,
    ...(chosen === undefined ? {} : { package: `${chosen.identifier}@${chosen.version ?? ""}` }),
    ...(remote === undefined ? {} : { remote }),
  };
}

/** "Ergr" in the file's header. */
const SCHEMA: DatabaseSchema = {
  applicationId: 0x45726772,
  migrations: [
    {
      version: 1,
      sql: `
CREATE TABLE entries (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, entry TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE words USING fts5 (name, title, description, packages, tokenize = 'porter unicode61');
CREATE TABLE copied (at TEXT NOT NULL) STRICT;
`,
    },
  ],
};
