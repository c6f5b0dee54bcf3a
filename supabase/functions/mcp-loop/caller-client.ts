import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import type { Database } from "../../../capabilities/tools/talent/shared/database-types.ts";

/** The database as the caller may see it. */
export type CallerClient = SupabaseClient<Database>;

/** Their own authorization goes on to the database, so row level security decides what an action may see. */
export function createCallerClient(
  project: { readonly url: string; readonly key: string },
  token: string,
): CallerClient {
  return createClient<Database>(project.url, project.key, {
    auth: { persistSession: false, autoRefreshToken: false, detectSessionInUrl: false },
    global: { headers: { Authorization: `Bearer ${token}` } },
  });
}
