import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

export type ConversationErrorCode = "conversation_not_found" | "conversation_ended" | "conversations_full";

export function conversationError(
  code: ConversationErrorCode,
  message: string,
  options?: ErrorOptions,
): ErgonError<ConversationErrorCode> {
  return new ErgonError(code, message, options);
}

export function noConversation(id: string): ErgonError<ConversationErrorCode> {
  return conversationError("conversation_not_found", `There is no conversation "${id.slice(0, 200)}".`);
}
