import { storeError } from "@ergon/core";
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

/** Messages and actions belong to a session; the first of them makes it. */
export async function keepSession(client: CallerClient, sessionId: string): Promise<void> {
  const rows = { onConflict: "id", ignoreDuplicates: true };
  const { error } = await client.from("conversation_sessions").upsert({ id: sessionId }, rows);
  if (error !== null) throw refused(error.message);
  const own = taken(await client.from("conversation_sessions").select("id").eq("id", sessionId));
  if (own.length === 0) throw refused(`the session ${sessionId} is another person's`);
}

export function taken<T>(answer: { readonly data: T | null; readonly error: { readonly message: string } | null }): T {
  const { data, error } = answer;
  if (error === null && data !== null) return data;
  throw refused(error?.message ?? "it answered nothing");
}

function refused(reason: string): Error {
  return storeError("store_unavailable", `The project's database: ${reason}.`);
}
