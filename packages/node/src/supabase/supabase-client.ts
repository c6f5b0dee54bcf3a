import { createRequire } from "node:module";
import type { SupabaseClient } from "@supabase/supabase-js";
import type * as SupabaseJs from "@supabase/supabase-js";

export type ClientOptions = {
  readonly url: string;
  readonly key: string;
  readonly fetch?: typeof globalThis.fetch;
};

/**
 * The library is loaded at once rather than awaited: an action's request has the client as a plain field, and most
 * actions never look at it.
 */
export function createSupabaseClient({ url, key, fetch }: ClientOptions): SupabaseClient {
  const { createClient } = createRequire(import.meta.url)("@supabase/supabase-js") as typeof SupabaseJs;
  const client: SupabaseClient = createClient(url, key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    // A database in this process that does not answer now will not a second later.
    ...(fetch === undefined ? {} : { global: { fetch }, db: { retry: false } }),
  });
  return client;
}
