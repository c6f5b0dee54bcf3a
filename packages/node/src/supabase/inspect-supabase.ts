import { existsSync } from "node:fs";
import { join } from "node:path";
import { isReady } from "./ready-file.ts";
import { SUPABASE_FOLDER } from "./supabase.ts";

export type SupabaseInspection =
  | { readonly kind: "hosted"; readonly url: string }
  | {
      readonly kind: "embedded";
      readonly folder: string;
      /** `unfinished`: a process died while it made it; it is made anew at the next use. */
      readonly state: "absent" | "ready" | "unfinished";
    };

/** Looks without opening anything. */
export function inspectSupabase(dataFolder: string, hostedUrl: string | undefined): SupabaseInspection {
  if (hostedUrl !== undefined) return { kind: "hosted", url: hostedUrl };
  const folder = join(dataFolder, SUPABASE_FOLDER);
  if (!existsSync(folder)) return { kind: "embedded", folder, state: "absent" };
  return { kind: "embedded", folder, state: isReady(folder) ? "ready" : "unfinished" };
}
