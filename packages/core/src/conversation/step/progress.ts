// What a conversation becomes by what happens in it: pure, no clock and no store.
import { conversationError } from "../../errors/conversation.ts";
import type { Change } from "../../ports/conversation-store.ts";
import type { ActionResult, PlannedAction } from "../../schema/mcp-loop.ts";
import {
  type ConversationRecord,
  type EntryBody,
  MAX_THOUGHT_CHARS,
  MAX_THOUGHTS,
  MAX_WAITING_MESSAGES,
  type Pending,
} from "../../schema/conversation.ts";
import type { Json } from "../../schema/values/json.ts";

export type Happened = Pick<Change, "record" | "entries">;

const MAX_TITLE = 80;
/** More failures than a call may ever have and still be made. */
const NEVER_AGAIN = 1_000;
/** So much of a result is kept for the model to read; the session's history has it whole. */
const MAX_RESULT_CHARS = 4_000;

export type Incoming = {
  readonly id: string;
  readonly owner: string;
  readonly content: string;
  readonly energyBudget?: number;
  readonly seq: number;
  readonly at: string;
};

export function received(known: ConversationRecord | undefined, message: Incoming): ConversationRecord {
  const { id, owner, content, energyBudget, seq, at } = message;
  if (known?.ended !== undefined) {
    throw conversationError(
      "conversation_ended",
      `Conversation ${id} has ended (${known.ended.reason}). Begin a new one.`,
    );
  }
  const { messages = [] } = known?.pending ?? {};
  if (messages.length >= MAX_WAITING_MESSAGES) {
    throw conversationError(
      "conversations_full",
      `${String(messages.length)} messages wait for an answer in conversation ${id}; send more when some are answered.`,
      { retryable: true },
    );
  }
  const record = known ?? {
    id,
    owner,
    title: titleOf(content),
    createdAt: at,
    updatedAt: at,
    choices: 0,
    messages: 0,
    answers: 0,
    lastMessage: 0,
    energySpent: 0,
    thoughts: [],
  };
  // What a person says is reason enough to look again, whatever was waited for.
  const { awaitsEnergy: _had, ...now } = record;
  return {
    ...now,
    updatedAt: at,
    messages: record.messages + 1,
    lastMessage: seq,
    pending: { ...(record.pending ?? newPending(at)), messages: [...messages, seq] },
    ...(energyBudget === undefined ? {} : { energyBudget }),
  };
}

export type Said = {
  readonly content: string;
  readonly by: string;
  /** The newest message that it answers: those that came later still wait. */
  readonly seen: number;
  readonly level: number;
  readonly at: string;
};

export function answered(record: ConversationRecord, { content, by, seen, level, at }: Said): Happened {
  const { pending: _done, work: _carried, awaitsEnergy: _had, ...rest } = record;
  const answers = record.answers + 1;
  const messages = waitingAfter(record, seen);
  const owed = messages.length === 0 ? {} : { pending: { ...newPending(at), messages } };
  return {
    record: { ...rest, answers, updatedAt: at, ...owed },
    entries: [{ kind: "response", id: `${record.id}.r${String(answers)}`, content, by, energyLevel: level }],
  };
}

export function thought(record: ConversationRecord, text: string, at: string): Happened {
  const kept = { at, text: text.slice(0, MAX_THOUGHT_CHARS) };
  const thoughts = [...record.thoughts, kept].slice(-MAX_THOUGHTS);
  return { record: stepped({ ...record, thoughts }, at), entries: [{ kind: "thought", text: kept.text }] };
}

export function awaitingEnergy(record: ConversationRecord, level: number, at: string): Happened {
  return {
    record: { ...stepped(record, at), awaitsEnergy: level },
    entries: [{ kind: "note", text: `Waits until the energy level is ${String(level)}.` }],
  };
}

export function snoozed(
  record: ConversationRecord,
  snooze: { readonly minutes: number; readonly reason: string; readonly until: string; readonly seen: number },
  at: string,
): Happened {
  const { pending, awaitsEnergy: _had, ...rest } = record;
  const { until, reason, minutes } = snooze;
  const messages = waitingAfter(record, snooze.seen);
  const owed = messages.length === 0 || pending === undefined ? {} : { pending: { ...pending, messages } };
  return {
    record: { ...rest, updatedAt: at, snooze: { until, reason, minutes }, ...owed },
    entries: [{ kind: "note", text: `Snoozed for ${String(snooze.minutes)} minutes, until ${until}: ${reason}` }],
  };
}

/** Something that happened beside the talk; it asks for nothing. */
export function noted(record: ConversationRecord, text: string): Happened {
  return { record, entries: [{ kind: "note", text }] };
}

/** Something that the conversation waited for: it goes on with it. */
export function heard(record: ConversationRecord, text: string, at: string): Happened {
  const pending = record.pending ?? newPending(at);
  return { record: { ...record, updatedAt: at, pending }, entries: [{ kind: "note", text }] };
}

export function unchanged(record: ConversationRecord): Happened {
  return { record, entries: [] };
}

/** Looked at unasked, as it was after this message; that it is not looked at so again is all that changes. */
export function lookedAt(record: ConversationRecord, lastMessage: number): Happened {
  return { record: { ...record, reviewed: lastMessage }, entries: [] };
}

export function takenUpAgain(record: ConversationRecord, at: string): Happened {
  const pending = record.pending ?? newPending(at);
  return {
    record: { ...record, updatedAt: at, reviewed: record.lastMessage, pending },
    entries: [{ kind: "note", text: "Taken up again while nobody waited: something may be left to do here." }],
  };
}

export function woken(record: ConversationRecord, at: string): Happened {
  const { snooze, ...rest } = record;
  return {
    record: { ...rest, updatedAt: at, pending: record.pending ?? newPending(at) },
    entries: [{ kind: "note", text: `The time for which this was put off is over: ${snooze?.reason ?? ""}` }],
  };
}

export function ended(record: ConversationRecord, reason: string, at: string): Happened {
  const { pending: _dropped, work: _left, awaitsEnergy: _had, snooze: _put, ...rest } = record;
  return {
    record: { ...rest, updatedAt: at, ended: { at, reason } },
    entries: [{ kind: "note", text: `Ended: ${reason}` }],
  };
}

/** Chosen is not done: it is written down first, and carried out under a name that never changes. */
export function chosen(
  record: ConversationRecord,
  choice: { readonly actions: readonly PlannedAction[]; readonly answers: boolean; readonly seen: number },
  at: string,
): Happened {
  const choices = record.choices + 1;
  const work = { ...choice, planId: `${record.id}.${String(choices)}`, actions: [...choice.actions] };
  const calls = choice.actions.map(({ tool, args }): EntryBody => ({ kind: "call", tool, args: args as Json }));
  return { record: { ...stepped(record, at), choices, work }, entries: calls };
}

export function carriedOut(
  record: ConversationRecord,
  results: readonly (ActionResult & { readonly key: string; readonly unknown?: true })[],
  at: string,
): Happened {
  const { work: _done, ...rest } = record;
  const pending = record.pending ?? newPending(at);
  const failures = { ...pending.failures };
  for (const { key, success, unknown } of results)
    if (!success) failures[key] = (failures[key] ?? 0) + (unknown === true ? NEVER_AGAIN : 1);
  return {
    record: { ...rest, updatedAt: at, pending: { ...pending, failures } },
    entries: results.map(({ tool, success, output, error }) => ({
      kind: "result",
      tool,
      success,
      text: shortened(success ? (typeof output === "string" ? output : JSON.stringify(output)) : (error ?? "failed")),
    })),
  };
}

/** A choice that cannot be carried out is a result that says why. */
export function refused(
  record: ConversationRecord,
  refusal: { readonly tool: string; readonly why: string; readonly stopped?: boolean },
  at: string,
): Happened {
  const after = stepped(record, at);
  const pending = after.pending ?? newPending(at);
  const stopped = pending.stopped + (refusal.stopped === true ? 1 : 0);
  return {
    record: { ...after, pending: { ...pending, stopped } },
    entries: [{ kind: "result", tool: refusal.tool, success: false, text: shortened(refusal.why) }],
  };
}

/** One more step towards the answer. */
export function stepped(record: ConversationRecord, at: string): ConversationRecord {
  const { awaitsEnergy: _had, ...rest } = record;
  const pending = record.pending ?? newPending(at);
  return { ...rest, updatedAt: at, pending: { ...pending, steps: pending.steps + 1 } };
}

function newPending(at: string): Pending {
  return { since: at, steps: 0, failures: {}, stopped: 0, messages: [] };
}

/** A record of 0.1.0 knows only the newest message. */
function waitingAfter({ pending, lastMessage }: ConversationRecord, seen: number): number[] {
  return (pending?.messages ?? [lastMessage]).filter((seq) => seq > seen);
}

function titleOf(content: string): string {
  const line = content.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_TITLE ? line : `${line.slice(0, MAX_TITLE)}…`;
}

function shortened(text: string): string {
  return text.length <= MAX_RESULT_CHARS ? text : `${text.slice(0, MAX_RESULT_CHARS)}…`;
}
