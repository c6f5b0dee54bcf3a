// The epoch that a data folder's database had last, kept in the user's state folder: a database that is gone, or older than
// that, has lost what was acknowledged since.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { readPrivateFile, replacePrivateFile } from "../tokens/private-file.ts";
import type { FolderHome } from "./settle-folder.ts";

const MAX_EPOCH_BYTES = 32;

/** Before the database is opened: throws `store_corrupt` when there was one and it is gone. */
export async function checkDatabaseThere({ folder }: FolderHome, database: string): Promise<void> {
  if ((await readKeptEpoch(folder)) === undefined) return;
  if ((statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
  throw storeError(
    "store_corrupt",
    `${database} is missing or empty, and this folder had sessions. Restore the data folder from a copy; to begin anew, remove the whole folder.`,
    { details: { path: database } },
  );
}

/** After it was opened: keeps its epoch, and warns when it is older than the database that was opened last. */
export async function keepEpoch(
  { folder }: FolderHome,
  { path, epoch }: { readonly path: string; readonly epoch: number },
  logger: Logger,
): Promise<void> {
  const last = await readKeptEpoch(folder);
  if (last !== undefined && epoch <= last) {
    const message =
      "The database is older than the one that was opened here last: what was written since is missing. That is expected after a copy was restored; otherwise run `ergon doctor`.";
    logger.warn({ path, epoch, last }, message);
  }
  if (folder !== undefined) await replacePrivateFile(epochFile(folder), `${String(epoch)}\n`);
}

async function readKeptEpoch(folder: string | undefined): Promise<number | undefined> {
  if (folder === undefined) return undefined;
  const epoch = Number.parseInt((await readPrivateFile(epochFile(folder), MAX_EPOCH_BYTES)) ?? "", 10);
  return Number.isSafeInteger(epoch) ? epoch : undefined;
}

function epochFile(folder: string): string {
  return join(folder, "epoch");
}
