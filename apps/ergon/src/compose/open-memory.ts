import {
  createConversationMemory,
  createMemoryApprovalStore,
  createMemoryBlobStore,
  createMemoryConversationStore,
  createMemoryLoopStore,
  createMemoryRequestKeys,
} from "@ergon/core/store-kit";
import { newSecret, openKeptVectors, openOwnedDatabase } from "@ergon/node";
import type { DataOptions } from "./open-data.ts";
import type { OwnedData } from "../workspace/workspace.ts";

/** Data of one process that ends with it: there is no folder, and so no other process can come in. */
export function openMemory({ values, logger, memoryState, supabase: makeSupabase }: DataOptions): OwnedData {
  const state = memoryState();
  const blobs = createMemoryBlobStore();
  const database = openOwnedDatabase({ path: ":memory:", logger });
  const vectors = openKeptVectors({ path: ":memory:", logger });
  const supabase = makeSupabase();
  const memory = createConversationMemory();
  return {
    kind: "opened",
    state,
    place: { database },
    health: () => undefined,
    blobs,
    loops: createMemoryLoopStore({ keepPerOwner: values.loopHistory }),
    approvals: createMemoryApprovalStore(),
    supabase,
    memory: supabase.turns?.around(memory) ?? memory,
    vectors,
    conversations: createMemoryConversationStore(),
    requestKeys: createMemoryRequestKeys(),
    home: { id: newSecret() },
    localToken: newSecret(),
    lost: new AbortController().signal,
    isAlone: true,
    announce: async () => undefined,
    retire: async () => undefined,
    close: async () => {
      for (const part of [supabase, vectors, state, database, blobs]) await part.close();
    },
  };
}
