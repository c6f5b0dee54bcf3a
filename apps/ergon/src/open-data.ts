import { join } from "node:path";
import {
  type ApprovalStore,
  type BlobStore,
  type ConversationMemory,
  type ConversationStore,
  createConversationMemory,
  createMemoryApprovalStore,
  createMemoryConversationStore,
  createMemoryLoopStore,
  type ErgonError,
  type Logger,
  type LoopStore,
} from "@ergon/core";
import {
  claimFolder,
  type ClaimOptions,
  type FolderHome,
  type FolderOwner,
  type KeptVectors,
  openConversationMemory,
  openFileBlobStore,
  openKeptVectors,
  openSqliteApprovalStore,
  openSqliteConversationStore,
  openSqliteLoopStore,
  openSqliteStateStore,
  type OwnedFolder,
  type SettingValues,
  type Supabase,
} from "@ergon/node";
import { DATABASE_NAME } from "./inspect-data.ts";

const APPROVALS_NAME = "approvals.db";
const LOOPS_NAME = "loops.db";
const MEMORY_NAME = "memory.db";
const VECTORS_NAME = "vectors.db";
const CONVERSATIONS_NAME = "conversations.db";

type OpenedState = ReturnType<typeof openSqliteStateStore>;

export type DataOptions = {
  readonly values: SettingValues;
  readonly place: ClaimOptions;
  readonly logger: Logger;
  /** What folds on a thread of its own. */
  readonly foldModule: string;
  /** For `memory:`: kept until the process ends. */
  readonly memoryState: () => Omit<OpenedState, "verify">;
  /** Made for whoever owns the folder, and closed with it. */
  readonly supabase: () => Supabase;
};

export type OpenedData =
  | {
      readonly kind: "opened";
      readonly state: Omit<OpenedState, "verify">;
      readonly blobs: BlobStore;
      readonly loops: LoopStore;
      readonly approvals: ApprovalStore;
      readonly supabase: Supabase;
      readonly memory: ConversationMemory;
      readonly vectors: KeptVectors;
      readonly conversations: ConversationStore;
      readonly home: FolderHome;
      /** What other processes of this user come in with. */
      readonly localToken: string;
      /** Aborts with the reason when this process may no longer say of anything that it is done. */
      readonly lost: AbortSignal;
      /** Tells others where this process listens. */
      readonly announce: (url: string) => Promise<void>;
      /** Sends nobody here any more: whoever comes now waits until the folder is free. */
      readonly retire: () => Promise<void>;
      readonly close: () => Promise<void>;
    }
  | { readonly kind: "owned"; readonly owner: OwnedFolder };

/** Becomes the owner of the data folder and opens what is kept there, unless another process owns it. */
export async function openData({
  values,
  place,
  logger,
  foldModule,
  memoryState,
  ...parts
}: DataOptions): Promise<OpenedData> {
  const { data } = values;
  const claim = await claimFolder(place);
  if (claim.kind === "owned") return { kind: "owned", owner: claim };
  const { lost, guard, stop } = guardOwnership(claim);
  try {
    const blobs = openFileBlobStore({ folder: join(data, "blobs") });
    const path = join(data, DATABASE_NAME);
    const state =
      values.store === "memory:" ? memoryState() : openSqliteStateStore({ path, foldModule, logger, ...guard });
    const loops = openLoops(values);
    const approvals = openApprovals(values);
    const supabase = parts.supabase();
    const ownMemory = openMemory(values);
    const memory = supabase.turns?.around(ownMemory) ?? ownMemory;
    const vectors = openKeptVectors({ path: join(data, VECTORS_NAME), logger });
    const conversations = openConversations(values);
    const close = async () =>
      closeAll([supabase, memory, vectors, approvals, conversations, loops, state, blobs], async () => {
        stop();
        await claim.release();
      });
    return {
      kind: "opened",
      state,
      blobs,
      loops,
      approvals,
      supabase,
      memory,
      vectors,
      conversations,
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

function openLoops({ data, loopStore, loopHistory: keepPerOwner }: SettingValues): LoopStore {
  if (loopStore === "memory") return createMemoryLoopStore({ keepPerOwner });
  return openSqliteLoopStore({ path: join(data, LOOPS_NAME), keepPerOwner });
}

function openApprovals({ data, store }: SettingValues): ApprovalStore {
  if (store === "memory:") return createMemoryApprovalStore();
  return openSqliteApprovalStore({ path: join(data, APPROVALS_NAME) });
}

function openMemory({ data, store }: SettingValues): ConversationMemory & Closable {
  if (store === "memory:") return { ...createConversationMemory(), close: () => Promise.resolve() };
  const memory = openConversationMemory({ path: join(data, MEMORY_NAME) });
  return { ...memory, close: async () => memory.close() };
}

function openConversations({ data, store }: SettingValues): ConversationStore {
  if (store === "memory:") return createMemoryConversationStore();
  return openSqliteConversationStore({ path: join(data, CONVERSATIONS_NAME) });
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
