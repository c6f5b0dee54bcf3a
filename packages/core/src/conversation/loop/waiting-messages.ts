import type { ConversationRecord, Entry } from "../../schema/conversation.ts";

export type WaitingMessage = { readonly seq: number; readonly content: string };

/**
 * The messages that wait for an answer, oldest first: as many as are whole within `maxChars`, and one at least. `entries` are
 * newest first. A message can lie before an answer in the log and still wait: it came while that answer was worked on.
 */
export function waitingMessages(
  record: Pick<ConversationRecord, "pending">,
  entries: readonly Entry[],
  maxChars = 0,
): readonly WaitingMessage[] {
  const waiting = record.pending?.messages;
  const answer = entries.findIndex(({ body }) => body.kind === "response");
  const isWaiting = ({ seq }: Entry, n: number): boolean =>
    waiting === undefined ? answer < 0 || n < answer : waiting.includes(seq);
  const found = entries
    .filter(isWaiting)
    .flatMap(({ seq, body }) => (body.kind === "message" ? [{ seq, content: body.content }] : []));
  let chars = 0;
  return found.reverse().filter(({ content }, n) => (chars += content.length + SEPARATOR) <= maxChars || n === 0);
}

/** Between two messages of a prompt. */
const SEPARATOR = 2;
