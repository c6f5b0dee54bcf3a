import { createHmac, randomBytes } from "node:crypto";
import { closeSync, lstatSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type ErgonError, isErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";
import { fromFileSystem } from "../blobs/file-errors.ts";
import { lockFile } from "../sqlite/database/file-lock.ts";
import { newSecret } from "../tokens/secret.ts";
import { holdFolder, isHeld } from "./hold-folder.ts";
import { homeOf, readFolderId } from "./known-folders.ts";
import { PRIVATE_FILE_MODE } from "./own-file.ts";
import {
  isAlive,
  readOwnerAccess,
  readServerFile,
  removeOwnerAccess,
  removeServerFile,
  type ServerFile,
  writeOwnerAccess,
  writeServerFile,
} from "./server-file.ts";
import { admitFolder, type FolderHome, settleFolder } from "./settle-folder.ts";
import type { FolderPlace, FolderVerdict } from "./trust-folder.ts";

/*
 * One process owns a data folder.
 *
 * O1  The held socket decides (hold-folder.ts). It is the kernel's, so it is free the moment its process is gone.
 * O2  server.json only says who the owner is; while no socket is held it is not believed.
 * O3  Those who would own the folder take turns by a lock on owner.db, held only while they look and write their name.
 * O4  server.json carries the owner's nonce for as long as it owns the folder. One whose nonce is gone has lost the
 *     folder, however that came about: it must not say of anything that it is done.
 * O5  The token for other processes is in the user's state folder, beside the address that it is for: what lies in the
 *     data folder cannot send it elsewhere.
 */
export type FolderClaim = FolderOwner | OwnedFolder;

export type FolderOwner = {
  readonly kind: "owner";
  readonly home: FolderHome;
  /** What other processes of this user on this folder come in with; it dies with the owner. */
  readonly localToken: string;
  /** Tells others where the owner listens; undefined: no longer. */
  readonly setUrl: (url: string | undefined) => Promise<void>;
  /** Throws `ownership_lost` when another process took the folder (O4). Cheap: one look at a file. */
  readonly confirm: () => void;
  readonly release: () => Promise<void>;
};

/** Without a pid, the owner has not yet said who it is; without a URL, it does not listen (yet). */
export type OwnedFolder = {
  readonly kind: "owned";
  readonly pid?: number;
  readonly url?: string;
  /** Undefined when this user's state folder has none for this owner. */
  readonly token?: string;
};

export type ClaimOptions = FolderPlace & {
  /** The first token, where both sides have it (ERGON_TOKEN): the way in when they share no state folder. */
  readonly sharedToken?: string | undefined;
};

/** An owner writes its name right after it took the folder; so long others wait to read it. */
const NAMING_MS = 1_000;
const NAMING_POLL_MS = 20;

/** Makes the folder when it is absent. Throws `folder_untrusted`, and `store_unavailable` when it cannot be used. */
export async function claimFolder(options: ClaimOptions): Promise<FolderClaim> {
  const { path } = options;
  const verdict = await admitFolder(options);
  for (let waitedMs = 0; ; waitedMs += NAMING_POLL_MS) {
    const owner = await tryToOwn(options, verdict);
    if (owner !== undefined) return owner;
    const named = readServerFile(join(path, "server.json"));
    // A pid that seems dead is one of an earlier owner, or of a container that shares the folder: the wait tells.
    if ((named !== undefined && isAlive(named.pid)) || waitedMs >= NAMING_MS) return owned(options, named);
    await setTimeout(NAMING_POLL_MS);
  }
}

/** The refusal for a process that needed to be the owner. */
export function folderOwned(dataDir: string, { pid, url, token }: OwnedFolder): ErgonError {
  const who = pid === undefined ? "another process" : `pid ${String(pid)}`;
  const where = url === undefined ? "" : ` at ${url}`;
  const isClosed = url !== undefined && token === undefined;
  const hint = isClosed ? " Its token is not in your state folder: use the HOME and XDG_STATE_HOME that it has." : "";
  return storeError(
    "folder_owned",
    `${dataDir} is owned by ${who}${where}.${hint} Work through it, end it, or name another data folder.`,
    {
      details: { dataDir, ...(pid === undefined ? {} : { pid }), ...(url === undefined ? {} : { url }) },
    },
  );
}

async function tryToOwn(options: ClaimOptions, verdict: FolderVerdict): Promise<FolderOwner | undefined> {
  const { path } = options;
  try {
    if (await isHeld(path)) return undefined;
    const endTurn = beginTurn(join(path, "owner.db"));
    if (endTurn === undefined) return undefined;
    try {
      const held = await holdFolder(path);
      return held && (await own(options, verdict, held.release));
    } finally {
      endTurn();
    }
  } catch (thrown) {
    throw fromFileSystem(thrown, `taking the data folder ${path}`);
  }
}

/** O3. Ergon 0.1.0 holds this lock for as long as it owns the folder. */
function beginTurn(path: string): (() => void) | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) makeEmpty(path);
  try {
    return lockFile(path);
  } catch (thrown) {
    if (!isErgonError(thrown) || thrown.code !== "store_corrupt") throw thrown;
    // It holds nothing but the lock, and a file that is no database was never locked.
    rmSync(path);
    makeEmpty(path);
    return lockFile(path);
  }
}

function makeEmpty(path: string): void {
  closeSync(openSync(path, "a", PRIVATE_FILE_MODE));
}

async function own(options: ClaimOptions, verdict: FolderVerdict, letGo: () => Promise<void>): Promise<FolderOwner> {
  const serverFile = join(options.path, "server.json");
  try {
    const home = await settleFolder(options, verdict);
    const nonce = randomBytes(16).toString("hex");
    const name = (url: string | undefined) =>
      writeServerFile(serverFile, { pid: process.pid, ...(url === undefined ? {} : { url }), nonce });
    await name(undefined);
    return ownerOf({ options, home, nonce, serverFile, name, letGo });
  } catch (thrown) {
    try {
      await removeServerFile(serverFile);
    } finally {
      await letGo();
    }
    throw thrown;
  }
}

type OwnerParts = {
  readonly options: ClaimOptions;
  readonly home: FolderHome;
  readonly nonce: string;
  readonly serverFile: string;
  readonly name: (url: string | undefined) => Promise<void>;
  readonly letGo: () => Promise<void>;
};

function ownerOf({ options, home, nonce, serverFile, name, letGo }: OwnerParts): FolderOwner {
  const accessFile = home.folder === undefined ? undefined : accessFileIn(home.folder);
  const shared = options.sharedToken;
  const localToken = shared === undefined ? newSecret() : derivedToken(shared, nonce);
  let seen = lookOf(serverFile);
  let released = false;

  const confirm = (): void => {
    const now = lookOf(serverFile);
    if (now !== undefined && now === seen) return;
    const named = readServerFile(serverFile);
    if (named?.nonce !== nonce) throw ownershipLost(options.path, named);
    seen = now;
  };
  return {
    kind: "owner",
    home,
    localToken,
    confirm,
    setUrl: async (url) => {
      if (released) throw storeError("store_closed", "This folder is no longer owned by this process.");
      confirm();
      // Whoever reads the address must find the token for it.
      if (url !== undefined && accessFile !== undefined)
        await writeOwnerAccess(accessFile, { nonce, url, token: localToken });
      await name(url);
    },
    release: async () => {
      if (released) return;
      released = true;
      // A folder that another process took is left to it.
      if (readServerFile(serverFile)?.nonce !== nonce) return letGo();
      if (accessFile !== undefined) removeOwnerAccess(accessFile);
      // First the name, then the lock: the next owner's name must not be removed.
      try {
        await removeServerFile(serverFile);
      } finally {
        await letGo();
      }
    },
  };
}

function owned(options: ClaimOptions, named: ServerFile | undefined): OwnedFolder {
  if (named === undefined) return { kind: "owned" };
  const { pid, url, nonce } = named;
  if (url === undefined) return { kind: "owned", pid };
  const id = readFolderId(options.path);
  const access = id === undefined ? undefined : readOwnerAccess(accessFileIn(homeOf(options.stateFolder, id)));
  if (access !== undefined && access.nonce === nonce)
    return { kind: "owned", pid, url: access.url, token: access.token };
  const shared = options.sharedToken;
  const token = shared === undefined || nonce === undefined ? {} : { token: derivedToken(shared, nonce) };
  return { kind: "owned", pid, url, ...token };
}

function accessFileIn(home: string): string {
  return join(home, "owner.json");
}

/** Known to those who have the first token and can read the data folder. */
function derivedToken(shared: string, nonce: string): string {
  return createHmac("sha256", shared).update(nonce).digest("base64url");
}

/** Changes whenever the file is replaced or written. */
function lookOf(path: string): string | undefined {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return found && [found.dev, found.ino, found.mtimeNs, found.ctimeNs, found.size].join(" ");
}

function ownershipLost(dataDir: string, taker: ServerFile | undefined): ErgonError {
  const who = taker === undefined ? "its server.json is gone" : `pid ${String(taker.pid)} owns it now`;
  const message = `This process no longer owns ${dataDir}: ${who}. What it has not confirmed may be lost. Start it again; if the folder was moved or copied, name the right one.`;
  return storeError("ownership_lost", message, { details: { dataDir, ...(taker && { pid: taker.pid }) } });
}
