import type { ErgonError } from "@ergon/core";
import type {
  ApprovalStore,
  BlobStore,
  ConversationMemory,
  ConversationStore,
  LoopStore,
  StateStore,
} from "@ergon/core/store-kit";
import type { RequestKeyStore } from "@ergon/core/engine";
import type { FolderHome, KeptVectors, OwnedFolder, StorePlace, Supabase } from "@ergon/node";

export type OpenedData =
  | {
      readonly kind: "opened";
      readonly state: StateStore;
      /** Where other stores keep what they have. */
      readonly place: StorePlace;
      /** What is wrong with the database now. */
      readonly health: () => ErgonError | undefined;
      readonly blobs: BlobStore;
      readonly loops: LoopStore;
      readonly approvals: ApprovalStore;
      readonly supabase: Supabase;
      readonly memory: ConversationMemory;
      readonly vectors: KeptVectors;
      readonly conversations: ConversationStore;
      readonly requestKeys: RequestKeyStore;
      readonly home: FolderHome;
      /** What other processes of this user come in with. */
      readonly localToken: string;
      /** Aborts with the reason when this process may no longer say of anything that it is done. */
      readonly lost: AbortSignal;
      /** No other process can come in: nothing listens. */
      readonly isAlone?: true;
      /** Tells others where this process listens. */
      readonly announce: (url: string) => Promise<void>;
      /** Removes this process's address: a command that comes now waits until the folder is free. */
      readonly retire: () => Promise<void>;
      readonly close: () => Promise<void>;
    }
  | { readonly kind: "owned"; readonly owner: OwnedFolder };
