import { join } from "node:path";
import { type Embedder, type Logger, toErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import type { SupabaseClient } from "@supabase/supabase-js";
import { embedRows } from "./embed-rows.ts";
import type { EmbeddedDatabase } from "./embedded-database.ts";
import { createTurnRecorder, type TurnRecorder } from "./record-turns.ts";
import { createSupabaseClient } from "./supabase-client.ts";

/** Where the embedded one is kept, below the data folder. */
export const SUPABASE_FOLDER = "supabase";
/** Never resolved: requests to it are answered in this process. */
const EMBEDDED_URL = "http://supabase.embedded.invalid";
/** What compares vectors waits until every row has one of the present model; nothing else does. */
const COMPARES_VECTORS = /\/rpc\/match_/;

export type Supabase = {
  /** Costs nothing until it is first asked something. */
  readonly client: SupabaseClient;
  /** Where a hosted project is named: it records the loop's turns. */
  readonly turns?: TurnRecorder;
  /** After it the client fails; what was being opened is closed too. */
  readonly close: () => Promise<void>;
};

export type SupabaseOptions = {
  readonly dataFolder: string;
  /** The folder with migrations and sample data. */
  readonly schema: string;
  readonly logger: Logger;
  readonly hosted?: { readonly url: string; readonly key: string };
  /** Without one nothing is embedded, and matches by meaning find nothing. */
  readonly embedder?: () => Promise<Embedder>;
};

/** A hosted project where one is named, else a database inside this process, opened when it is first asked. */
export function createSupabase(options: SupabaseOptions): Supabase {
  const { hosted, logger } = options;
  if (hosted === undefined) return createEmbedded(options);
  const client = atFirstUse(() => createSupabaseClient(hosted));
  const turns = createTurnRecorder(client, logger);
  return { client, turns, close: turns.flush };
}

/** The library alone takes longer to load than many a command runs. */
function atFirstUse(make: () => SupabaseClient): SupabaseClient {
  let made: SupabaseClient | undefined;
  const real = (): SupabaseClient => (made ??= make());
  return new Proxy({} as SupabaseClient, {
    has: (_, key) => key in real(),
    get: (_, key) => {
      const client = real();
      const field: unknown = Reflect.get(client, key, client);
      return typeof field === "function" ? (field.bind(client) as unknown) : field;
    },
  });
}

function createEmbedded({ dataFolder, schema, logger, embedder }: SupabaseOptions): Supabase {
  let opening: Promise<EmbeddedDatabase> | undefined;
  let embedding: Promise<void> | undefined;
  let isClosed = false;

  return {
    client: atFirstUse(() => createSupabaseClient({ url: EMBEDDED_URL, key: "in-process", fetch: answer })),
    close: async () => {
      isClosed = true;
      await embedding?.catch(() => undefined);
      await opening?.then(
        (database) => database.close(),
        () => undefined,
      );
    },
  };

  async function answer(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const database = await open();
    const request = new Request(input, init);
    if (COMPARES_VECTORS.test(request.url)) await embedAll(database);
    request.headers.set("apikey", database.keys.secret);
    request.headers.delete("authorization");
    return database.fetch(request);
  }

  /** What failed is tried again by the next who asks. */
  async function open(): Promise<EmbeddedDatabase> {
    if (isClosed) throw storeError("store_closed", "The embedded database is closed.");
    opening ??= import("./embedded-database.ts")
      .then(({ openEmbeddedDatabase }) => openEmbeddedDatabase({ folder: join(dataFolder, SUPABASE_FOLDER), schema }))
      .catch((thrown: unknown) => {
        opening = undefined;
        logger.error(
          { error: toErgonError(thrown, "store_unavailable").toJSON() },
          "The embedded database is not there.",
        );
        throw thrown;
      });
    return opening;
  }

  async function embedAll({ fetch, keys }: EmbeddedDatabase): Promise<void> {
    if (embedder === undefined) return;
    embedding ??= (async () => {
      const direct = createSupabaseClient({
        url: EMBEDDED_URL,
        key: keys.secret,
        fetch: (input, init) => fetch(new Request(input, init)),
      });
      const changed = await embedRows(direct, await embedder());
      if (changed > 0) logger.info({ rows: changed }, "Rows of the embedded database were embedded.");
    })().catch((thrown: unknown) => {
      embedding = undefined;
      throw thrown;
    });
    return embedding;
  }
}
