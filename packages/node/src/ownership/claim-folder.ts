import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type ErgonError, storeError } from "@ergon/core";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { lockFile } from "../sqlite/file-lock.ts";
import { makeFolder } from "./make-folder.ts";
import { isAlive, readServerFile, removeServerFile, writeServerFile } from "./server-file.ts";

/*
 * One process owns a data folder.
 *
 * O1  The lock on owner.db alone decides. It is the kernel's, so it is free the moment its process is gone.
 * O2  server.json only says who the owner is; without a held lock it is not believed.
 */
export type FolderClaim = FolderOwner | OwnedFolder;

export type FolderOwner = {
  readonly kind: "owner";
  /** Tells others where the owner listens, and what processes on this folder come in with; undefined: no longer. */
  readonly setUrl: (url: string | undefined, token?: string) => Promise<void>;
  readonly release: () => Promise<void>;
};

/** Without a pid, the owner has not yet said who it is; without a URL, it does not listen (yet). */
export type OwnedFolder = {
  readonly kind: "owned";
  readonly pid?: number;
  readonly url?: string;
  readonly token?: string;
};

/** An owner writes its name right after it took the lock; so long others wait to read it. */
const NAMING_MS = 1_000;
const NAMING_POLL_MS = 20;

/** Makes the folder when it is absent. Throws `store_unavailable` when it cannot be used. */
export async function claimFolder(dataDir: string, options: { readonly url?: string } = {}): Promise<FolderClaim> {
  makeFolder(dataDir);
  const serverFile = join(dataDir, "server.json");
  for (let waitedMs = 0; ; waitedMs += NAMING_POLL_MS) {
    const unlock = lockFile(join(dataDir, "owner.db"));
    if (unlock !== undefined) return own(serverFile, unlock, options.url);
    const named = await readServerFile(serverFile);
    // A pid that seems dead is one of an earlier owner, or of a container that shares the folder: the wait tells.
    if ((named !== undefined && isAlive(named.pid)) || waitedMs >= NAMING_MS) return { kind: "owned", ...named };
    await setTimeout(NAMING_POLL_MS);
  }
}

/** The refusal for whoever needed to be the owner. */
export function folderOwned(dataDir: string, { pid, url }: OwnedFolder): ErgonError {
  const who = pid === undefined ? "another process" : `pid ${String(pid)}`;
  const where = url === undefined ? "" : ` at ${url}`;
  return storeError(
    "folder_owned",
    `${dataDir} is owned by ${who}${where}. Work through it, end it, or name another data folder.`,
    {
      details: { dataDir, ...(pid === undefined ? {} : { pid }), ...(url === undefined ? {} : { url }) },
    },
  );
}

async function own(serverFile: string, unlock: () => void, url: string | undefined): Promise<FolderOwner> {
  const name = (at: string | undefined, token?: string) =>
    writeServerFile(serverFile, {
      pid: process.pid,
      ...(at === undefined ? {} : { url: at }),
      ...(token === undefined ? {} : { token }),
    });
  try {
    await name(url);
  } catch (thrown) {
    unlock();
    throw fromFileSystem(thrown, `writing ${serverFile}`);
  }
  let released = false;
  return {
    kind: "owner",
    setUrl: async (at, token) => {
      if (released) throw storeError("store_closed", "This folder is no longer owned by this process.");
      await name(at, token);
    },
    release: async () => {
      if (released) return;
      released = true;
      // First the name, then the lock: the next owner's name must not be removed.
      await removeServerFile(serverFile).finally(unlock);
    },
  };
}
