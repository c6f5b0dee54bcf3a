import { join } from "node:path";
import type { ErgonError, Logger } from "@ergon/core";
import {
  createConversationMemory,
  createMemoryApprovalStore,
  createMemoryConversationStore,
  createMemoryLoopStore,
  createMemoryRequestKeys,
  type LoopStore,
  type StateStore,
} from "@ergon/core/store-kit";
import {
  checkDatabaseThere,
  claimFolder,
  type ClaimOptions,
  type FolderOwner,
  keepEpoch,
  openConversationMemory,
  openFileBlobStore,
  openKeptVectors,
  openOwnedDatabase,
  openSqliteApprovalStore,
  openSqliteConversationStore,
  openSqliteLoopStore,
  openSqliteRequestKeys,
  openSqliteStateStore,
  type OwnedDatabase,
  type SettingValues,
  type Supabase,
} from "@ergon/node";
import type { OpenedData } from "../workspace/opened-data.ts";
import { lazy } from "../services/lazy.ts";
import { DATABASE_NAME } from "../workspace/inspect-data.ts";

const VECTORS_NAME = "vectors.db";

export type DataOptions = {
  readonly values: SettingValues;
  readonly place: ClaimOptions;
  readonly logger: Logger;
  /** For `memory:`: kept until the process ends. */
  readonly memoryState: () => StateStore;
  /** Made for whoever owns the folder, and closed with it. */
  readonly supabase: () => Supabase;
};

/** Becomes the owner of the data folder, unless another process owns it. Stores that few commands use are opened on first use. */
export async function openData({ values, place, logger, memoryState, ...parts }: DataOptions): Promise<OpenedData> {
  const { data } = values;
  const claim = await claimFolder(place);
  if (claim.kind === "owned") return { kind: "owned", owner: claim };
  const { lost, guard, stop } = guardOwnership(claim);
  try {
    const blobs = openFileBlobStore({ folder: join(data, "blobs") });
    const isKept = values.store !== "memory:";
    const path = isKept || values.loopStore !== "memory" ? join(data, DATABASE_NAME) : ":memory:";
    const isFile = path !== ":memory:";
    if (isFile) await checkDatabaseThere(claim.home, path);
    const database = openOwnedDatabase({ path, logger, ...guard });
    if (isFile) await keepEpoch(claim.home, database, logger);
    const state = isKept ? openSqliteStateStore({ database, logger }) : memoryState();
    const loops = lazy(() => openLoops(values, database));
    const approvals = isKept ? openSqliteApprovalStore({ database }) : createMemoryApprovalStore();
    const supabase = parts.supabase();
    const memory = lazy(() => {
      const own = isKept ? openConversationMemory({ database }) : createConversationMemory();
      return supabase.turns?.around(own) ?? own;
    });
    const vectors = lazy(() => openKeptVectors({ path: join(data, VECTORS_NAME), logger }));
    const conversations = lazy(() =>
      isKept ? openSqliteConversationStore({ database }) : createMemoryConversationStore(),
    );
    const requestKeys = lazy(() => (isKept ? openSqliteRequestKeys({ database }) : createMemoryRequestKeys()));
    const close = async () => {
      const openedVectors = vectors.opened();
      const all = [supabase, ...(openedVectors === undefined ? [] : [openedVectors]), state, database, blobs];
      await closeAll(all, async () => {
        stop();
        await claim.release();
      });
    };
    return {
      kind: "opened",
      state,
      place: isKept ? { database } : { path: ":memory:" },
      health: database.health,
      blobs,
      get loops() {
        return loops();
      },
      approvals,
      supabase,
      get memory() {
        return memory();
      },
      get vectors() {
        return vectors();
      },
      get conversations() {
        return conversations();
      },
      get requestKeys() {
        return requestKeys();
      },
      home: claim.home,
      localToken: claim.localToken,
      lost,
      announce: claim.setUrl,
      retire: () => claim.setUrl(undefined),
      close,
    };
  } catch (thrown) {
    stop();
    await claim.release();
    throw thrown;
  }
}

/** A process that is idle notices within this time that it lost its folder; one that writes notices at once. */
const CONFIRM_MS = 1_000;

function guardOwnership({ confirm }: Pick<FolderOwner, "confirm">) {
  const losing = new AbortController();
  const confirming = setInterval(() => {
    try {
      confirm();
    } catch (thrown) {
      losing.abort(thrown);
    }
  }, CONFIRM_MS);
  confirming.unref();
  // A store that is damaged stops by itself, and is asked for its health; only a lost folder ends the process.
  const lose = (error: ErgonError): void => {
    if (error.code === "ownership_lost") losing.abort(error);
  };
  const guard = { confirmOwner: confirm, onFatal: lose };
  return { lost: losing.signal, guard, stop: () => clearInterval(confirming) };
}

function openLoops({ loopStore, loopHistory: keepPerOwner }: SettingValues, database: OwnedDatabase): LoopStore {
  if (loopStore === "memory") return createMemoryLoopStore({ keepPerOwner });
  return openSqliteLoopStore({ database, keepPerOwner });
}

type Closable = { readonly close: () => Promise<void> };

/** In order, and the folder is given back whatever became of the rest. */
async function closeAll(parts: readonly Closable[], release: () => Promise<void>): Promise<void> {
  try {
    for (const part of parts) await part.close();
  } finally {
    await release();
  }
}
