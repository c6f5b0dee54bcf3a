import { z } from "zod";
import { EnergyRow } from "./energy.ts";
import { Json } from "./values/json.ts";
import { PlannedAction } from "./mcp-loop.ts";
import { OpenWait, SessionId } from "./session.ts";

/** Spec 5's server takes this much in one message. */
export const MAX_CONTENT_CHARS = 10_000;
/** Messages of one conversation that may wait for an answer; one more is refused. */
export const MAX_WAITING_MESSAGES = 200;
const MAX_ENERGY_BUDGET = 1_000_000;
/** From a minute to a day. */
export const MIN_SNOOZE_MINUTES = 1;
export const MAX_SNOOZE_MINUTES = 1_440;
/** Spec 5's buffer: of more, the oldest are forgotten. */
export const MAX_THOUGHTS = 5;
export const MAX_THOUGHT_CHARS = 2_000;
export const MAX_REASON_CHARS = 500;

/** A conversation's id is that of the session in which its tools run. */
export const ConversationId = SessionId;
export type ConversationId = z.infer<typeof ConversationId>;

export const NewMessage = z.strictObject({
  content: z
    .string()
    .max(MAX_CONTENT_CHARS)
    .refine((text) => text.trim() !== "", "Say something."),
  conversationId: ConversationId.optional().describe("goes on in this conversation; a new one without it"),
  messageId: SessionId.optional().describe("yours, so that sending it again does not say it twice"),
  energyBudget: z
    .number()
    .min(0)
    .max(MAX_ENERGY_BUDGET)
    .optional()
    .describe("units that this conversation should get by with; 0 is one last answer"),
});
export type NewMessage = z.infer<typeof NewMessage>;

export const BudgetStatus = z.enum(["within", "exceeded", "depleted"]);
export type BudgetStatus = z.infer<typeof BudgetStatus>;

export const ConversationState = z.enum([
  "waiting",
  "working",
  "waiting_for_person",
  "waiting_for_energy",
  "waiting_for_model",
  "answered",
  "snoozed",
  "ended",
]);
export type ConversationState = z.infer<typeof ConversationState>;

/** Nothing more comes by itself for now. */
export function isRestful(state: ConversationState): boolean {
  return state === "answered" || state === "snoozed" || state === "ended" || state === "waiting_for_person";
}

export const Thought = z.object({ at: z.string(), text: z.string() });
export type Thought = z.infer<typeof Thought>;

/** What is still to be answered. */
const Pending = z.object({
  /** When the oldest of it came. */
  since: z.string(),
  /** Steps that were taken towards the answer. */
  steps: z.int().nonnegative(),
  /** How often each call has failed, by a hash of tool and arguments. */
  failures: z.record(z.string(), z.int()),
  /** Calls that were refused because they had failed the same way before. */
  stopped: z.int().nonnegative(),
  /** The places of the messages that wait, oldest first. A record of 0.1.0 does not have it. */
  messages: z.array(z.int().positive()).max(MAX_WAITING_MESSAGES).exactOptional(),
});
export type Pending = z.infer<typeof Pending>;

/** A choice that was made and is still to be carried out; its plan's id is its own for ever. */
const Work = z.object({
  planId: z.string(),
  actions: z.array(PlannedAction),
  /** Chosen without a model: what the tools find is the answer. */
  answers: z.boolean(),
  /** The newest message that its results answer. */
  seen: z.int().nonnegative(),
});
export type Work = z.infer<typeof Work>;

/** A conversation as it is kept. */
export const ConversationRecord = z.object({
  id: ConversationId,
  owner: z.string(),
  title: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  /** Counts choices; plans are named by it. */
  choices: z.int().nonnegative(),
  messages: z.int().nonnegative(),
  answers: z.int().nonnegative(),
  /** The newest message's place in the log. */
  lastMessage: z.int().nonnegative(),
  energySpent: z.number(),
  energyBudget: z.number().exactOptional(),
  thoughts: z.array(Thought),
  /** The last message as it was when this was looked at again, unasked. */
  reviewed: z.int().exactOptional(),
  pending: Pending.exactOptional(),
  work: Work.exactOptional(),
  awaitsEnergy: z.number().exactOptional(),
  /** `minutes`: how long it was to take; a record of 0.1.0 does not have it. */
  snooze: z.object({ until: z.string(), reason: z.string(), minutes: z.number().exactOptional() }).exactOptional(),
  ended: z.object({ at: z.string(), reason: z.string() }).exactOptional(),
});
export type ConversationRecord = z.infer<typeof ConversationRecord>;

/** One line of a conversation's story. */
export const EntryBody = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("message"), id: z.string(), content: z.string() }),
  z.object({
    kind: z.literal("response"),
    id: z.string(),
    content: z.string(),
    /** The model that wrote it, or what else did. */
    by: z.string(),
    energyLevel: z.number(),
  }),
  z.object({ kind: z.literal("thought"), text: z.string() }),
  z.object({ kind: z.literal("call"), tool: z.string(), args: Json }),
  z.object({ kind: z.literal("result"), tool: z.string(), success: z.boolean(), text: z.string() }),
  /** What happened beside the talk: snoozed, ended, a server fell. */
  z.object({ kind: z.literal("note"), text: z.string() }),
  /** Energy that came and went. */
  z.object({ kind: z.literal("energy") }),
]);
export type EntryBody = z.infer<typeof EntryBody>;

export const Entry = z.object({ seq: z.int().positive(), at: z.string(), body: EntryBody });
export type Entry = z.infer<typeof Entry>;

/** With what the ledger is to say of it. */
export const LoggedEntry = Entry.extend({
  conversationId: z.string(),
  owner: z.string(),
  energy: z.array(EnergyRow),
  level: z.number().exactOptional(),
});
export type LoggedEntry = z.infer<typeof LoggedEntry>;

/** A conversation as its owner sees it. */
export const Conversation = ConversationRecord.omit({
  owner: true,
  work: true,
  pending: true,
  lastMessage: true,
  reviewed: true,
}).extend({
  state: ConversationState,
  budgetStatus: BudgetStatus.exactOptional(),
  /** What a person is asked. */
  waiting: z.array(OpenWait).exactOptional(),
});
export type Conversation = z.infer<typeof Conversation>;

export const ConversationView = z.object({
  conversation: Conversation,
  /** Oldest first; the newest ones, with a cursor to those before. */
  history: z.array(Entry),
  nextCursor: z.string().exactOptional(),
});
export type ConversationView = z.infer<typeof ConversationView>;

export const MessageReceipt = z.object({ conversationId: ConversationId, messageId: z.string() });
export type MessageReceipt = z.infer<typeof MessageReceipt>;

/** What keeps conversations from going on, and how much there is to do. */
export const ConversationsStatus = z.object({
  running: z.boolean(),
  waiting: z.int(),
  working: z.int(),
  snoozed: z.int(),
  planner: z.string(),
  /** From being woken to having begun what there is to begin, of the last cycles. */
  wakeMs: z.object({ p50: z.number(), p99: z.number(), max: z.number() }),
  /** Sentences; empty when all is well. */
  degraded: z.array(z.string()),
});
export type ConversationsStatus = z.infer<typeof ConversationsStatus>;
