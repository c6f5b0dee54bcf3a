import type {
  Conversation,
  ConversationView,
  MessageReceipt,
  ConversationsStatus,
  NewMessage,
} from "../schema/conversation.ts";
import type { EnergyState } from "../schema/energy.ts";
import type { Page } from "./state-store.ts";

/*
 * Conversations as people and programs see them: here, or through the process that owns the data folder. Every call is
 * made by somebody (`owner`); what another began answers `conversation_not_found`.
 *
 * B1  A message that was acknowledged is never lost, and answered once the loop comes to it.
 * B2  A refused call changes nothing.
 */
export type Conversations = {
  /** Throws `conversation_not_found`, `conversation_ended`, `conversations_full`, `input_invalid`. */
  post(message: NewMessage & { readonly owner: string }): Promise<MessageReceipt>;
  read(query: ConversationRef & { readonly limit?: number; readonly cursor?: string }): Promise<ConversationView>;
  /** Newest first. */
  list(query: {
    readonly owner: string;
    readonly limit: number;
    readonly cursor?: string;
  }): Promise<Page<Conversation>>;
  /** What is under way for it is stopped. Throws `conversation_ended` when it has ended before. */
  end(request: ConversationRef & { readonly reason: string }): Promise<Conversation>;
  /** Resolves once nothing more comes by itself (answered, snoozed, ended, a person is asked), or the time is over. */
  settled(
    request: ConversationRef & { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<Conversation>;
  energy(): Promise<EnergyState>;
  status(): Promise<ConversationsStatus>;
};

export type ConversationRef = { readonly owner: string; readonly id: string };
