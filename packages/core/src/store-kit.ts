// For adapters: the ports of stores, models and clocks, the in-memory stores, and code that stores share.
export { DEFAULT_MODEL_TIMEOUT_MS, DEFAULT_OUTPUT_TOKENS, type TokenUsage } from "./ports/chat-model.ts";
export { isoTime } from "./ports/clock.ts";
export { MAX_EMBEDDED_CHARS, similarity } from "./ports/embedder.ts";
export type { LogFields } from "./ports/logger.ts";
export { createMemoryLogger } from "./memory/logger.ts";
export {
  type BlobRow,
  type Commit,
  type RunClaim,
  type RunRow,
  type CommitNews,
  type CommitReceipt,
  type ContextRow,
  type ContextValue,
  type ContextWrite,
  type EnergyTotals,
  type EventQuery,
  type HistoryInput,
  type JournalFinish,
  type JournalQuery,
  type JournalRow,
  type JournalStart,
  type JournalWhole,
  type JournalWrite,
  MAX_PAGE_ROWS,
  type PositionRange,
  type Page,
  type SessionQuery,
  type SessionRecord,
  type SessionWrite,
  type StateStore,
  type Version,
} from "./ports/state-store.ts";
export { type BlobStore, MAX_BLOB_BYTES } from "./ports/blob-store.ts";
export {
  type ConversationContext,
  type ConversationMemory,
  type ConversationQuery,
  type ConversationTurn,
  MIN_KEPT_MESSAGES,
  type RecentMessage,
  type RememberedMessage,
  type SemanticMatch,
} from "./ports/conversation-memory.ts";
export type { Change, ConversationStore, PoolChange, Receipt, ReceivedMessage } from "./ports/conversation-store.ts";
export type { Ids } from "./ports/ids.ts";
export {
  type LoopKeeping,
  type LoopRef,
  type LoopSoFar,
  type LoopStore,
  type LoopSummary,
  MAX_LOOP_OWNERS,
  RECENT_SCORES,
} from "./ports/loop-store.ts";
export { createMemoryBlobStore } from "./memory/blob-store.ts";
export { checkBlob, missingBlob } from "./store-kit/blob-refusals.ts";
export { afterPrefix } from "./store-kit/byte-order.ts";
export { contextFrom, createConversationMemory } from "./memory/conversation-memory.ts";
export { createMemoryConversationStore, entriesOf, wantsSomething } from "./memory/conversation-store.ts";
export { createHashEmbedder } from "./memory/hash-embedder.ts";
export { type BatchOutcome, createCommitQueue } from "./store-kit/commit-queue.ts";
export type {
  BlobText,
  CommitRows,
  ContextText,
  EventText,
  JournalEndText,
  JournalStartText,
  SessionRow,
} from "./store-kit/commit-rows.ts";
export { createIds } from "./memory/ids.ts";
export { createMemoryLoginStore } from "./memory/login-store.ts";
export { createLoopIds } from "./store-kit/loop-ids.ts";
export { createMemoryRequestKeys } from "./memory/request-keys.ts";
export { createTurns } from "./store-kit/turns.ts";
export { createMemoryLoopStore } from "./memory/loop-store.ts";
export { createMemoryStateStore } from "./memory/state-store.ts";
export {
  checkWhole,
  pageLimit,
  pageOf,
  refuse,
  scopeCursor,
  sessionCursor,
  writeScopeCursor,
} from "./store-kit/store-refusals.ts";
export { journalRow, newsOf, storedEvent } from "./store-kit/stored-rows.ts";
export {
  type ApprovalAnswer,
  type ApprovalQuery,
  type ApprovalStore,
  MAX_ANSWERED_APPROVALS,
  MAX_PENDING_APPROVALS,
} from "./ports/approval-store.ts";
export { approvalsFull, createMemoryApprovalStore, refuseAnswered, sortKey } from "./memory/approval-store.ts";
