import type { ConversationRecord, Entry, EntryBody, LoggedEntry } from "../schema/conversation.ts";
import type { EnergyRow } from "../schema/energy.ts";
import type { Page } from "./state-store.ts";

/*
 * Conversations and the log of what happened in them; the level of the energy pool lies with them, because a step and
 * what it cost are one.
 *
 * V1  A change is there wholly or not at all: record, entries, and the pool's level.
 * V2  When a call resolves, what it changed survives the death of the process; a message that was received survives the
 *     loss of power.
 * V3  Entries have numbers that grow without reuse, across all conversations.
 * V4  What one owner keeps, another never sees. A message id that the owner has used before changes nothing and answers
 *     what it answered then.
 * V5  A refused call changes nothing.
 */
export type ConversationStore = {
  receive(message: ReceivedMessage): Promise<Receipt>;
  /** What `decide` throws passes. Undefined when there is no such conversation. */
  change(id: string, decide: (record: ConversationRecord) => Change): Promise<ConversationRecord | undefined>;
  /** Energy that belongs to no conversation. */
  keepPool(at: string, pool: PoolChange): Promise<void>;
  /** Undefined in a store where nothing was ever spent. */
  readLevel(): Promise<number | undefined>;

  read(id: string): Promise<ConversationRecord | undefined>;
  /** Newest first. */
  list(query: ConversationQuery): Promise<Page<ConversationRecord>>;
  /** Those that want something: with an answer owed, work in hand, or a snooze that will end. Oldest first. */
  wanting(limit: number): Promise<readonly ConversationRecord[]>;
  /** Those that have not ended and were changed since then, the last changed first. */
  open(query: { readonly since: string; readonly limit: number }): Promise<readonly ConversationRecord[]>;
  /** Of one conversation, newest first, those before `before`. */
  entries(query: { readonly id: string; readonly before?: number; readonly limit: number }): Promise<readonly Entry[]>;
  /** Of all, oldest first: for whoever tells others. */
  log(query: { readonly afterSeq: number; readonly limit: number }): Promise<readonly LoggedEntry[]>;
  /** Entries of the pool alone up to here are told, and may be forgotten. */
  forgetPool(upToSeq: number): Promise<void>;
  close(): Promise<void>;
};

export type ReceivedMessage = {
  readonly owner: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly content: string;
  readonly at: string;
  /** Makes the record of a new conversation, or the next one of a known one; throws what is to be refused. */
  readonly decide: (record: ConversationRecord | undefined, seq: number) => ConversationRecord;
};

export type Receipt = {
  readonly record: ConversationRecord;
  readonly messageId: string;
  /** False when this message had been received before. */
  readonly isNew: boolean;
};

/** The level as it is now, and the rows of it that are no conversation's: an entry of their own, where there are any. */
export type PoolChange = { readonly owner: string; readonly level: number; readonly rows: readonly EnergyRow[] };

export type Change = {
  readonly record: ConversationRecord;
  readonly entries: readonly EntryBody[];
  readonly at: string;
  /** What this conversation has spent; told with the last entry. */
  readonly spent?: readonly EnergyRow[];
  readonly pool?: PoolChange;
};

type ConversationQuery = {
  readonly owner: string;
  readonly cursor?: string;
  readonly limit: number;
};
