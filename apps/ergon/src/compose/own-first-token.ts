import { existsSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "@ergon/core/schema";
import { newSecret, readFirstToken } from "@ergon/node";
import type { OpenOptions, OwnedData, WorkspaceParts } from "../workspace/workspace.ts";

/** Kept in the state folder. Where there is none, a server must be given one, and other commands go without. */
export async function ownFirstToken(
  { home }: OwnedData,
  { values, note }: WorkspaceParts,
  { listen }: OpenOptions,
): Promise<string> {
  if (listen?.firstToken !== undefined) return listen.firstToken;
  if (home.notice !== undefined) note(home.notice);
  const old = join(values.data, "token");
  if (existsSync(old)) note(`${old}, a token of an earlier Ergon, is not used. To use it: ergon trust ${values.data}`);
  if (home.folder !== undefined) return readFirstToken(home.folder);
  if (listen !== undefined) throw usageError("usage", "Set ERGON_TOKEN: there is no state folder to keep a token in.");
  return newSecret();
}
