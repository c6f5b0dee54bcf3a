/*
 * The cursor of a run: a small tree that says which step each list is at, and nothing of what steps produced. It is
 * stored in every commit, so it stays small: finished branches and turns leave only a count.
 *
 * A stored cursor has a version. A change of its form raises CURSOR_VERSION, adds an upgrade from the version before, and
 * records golden cursors of the new version (`scripts/make-cursors.ts`); the older ones are read for ever.
 *
 * Covered by cursor.test.ts.
 */
import { z } from "zod";
import { storeError } from "../errors/store.ts";
import type { SessionRecord } from "../ports/state-store.ts";
import { ProposedCorrection } from "../schema/correction.ts";
import { ErrorRecord } from "../schema/error.ts";
import { GivenAnswer, Question } from "../schema/question.ts";
import { asJson, JsonObject, type Json } from "../schema/values/json.ts";

export const CURSOR_VERSION = 2;

/** What a person or a correction put in place of what the plan says of this visit. */
export const Amendment = z.strictObject({
  args: JsonObject.optional(),
  toolId: z.string().optional(),
  /** The visit whose idempotency key is used: the same call is made once more. */
  keyPosition: z.string().optional(),
  /** What a person has answered to the call's questions. */
  answers: z.array(GivenAnswer).optional(),
});
export type Amendment = z.infer<typeof Amendment>;

/** When a wait is over by the wall clock, and how long it was to take; a cursor of 0.1.0 has only the first. */
const due = { untilMs: z.number(), forMs: z.number().optional() };
export type Due = { readonly untilMs: number; readonly forMs?: number | undefined };

const amendment = Amendment.optional();
/** What a person is asked about, to be called as it is; for this visit alone. */
const args = JsonObject.optional();
const sinceMs = z.number();
const attempt = z.int().nonnegative();
const count = z.int().nonnegative();

/** Branches or loop turns under way. Those before `next` that are not in `kids` are done. */
export type Spread = {
  readonly kind: "spread";
  readonly count: number;
  readonly next: number;
  readonly kids: Readonly<Record<string, ListFrame>>;
};

const StepState = z.discriminatedUnion("kind", [
  /** The step has begun and awaits its first answer (a check, an evaluation). */
  z.strictObject({ kind: z.literal("ready"), args, amendment }),
  z.strictObject({ kind: z.literal("call"), attempt, amendment }),
  /** Attempt 0: a correction put the step's first attempt off. */
  z.strictObject({ kind: z.literal("backoff"), attempt, ...due, amendment }),
  z.strictObject({
    kind: z.literal("approval"),
    sinceMs,
    message: z.string(),
    approvalId: z.string(),
    args,
    amendment,
  }),
  z.strictObject({
    kind: z.literal("human"),
    sinceMs,
    message: z.string(),
    /** What a tool asks, and which attempt asked it; absent where the step itself is the question. */
    asked: z.strictObject({ question: Question, attempt }).optional(),
    amendment,
  }),
  z.strictObject({
    kind: z.literal("error"),
    sinceMs,
    error: ErrorRecord,
    correction: ProposedCorrection.optional(),
    /** The supervisor has nothing (more) to propose. */
    needsPerson: z.literal(true).optional(),
    amendment,
  }),
  z.strictObject({
    kind: z.literal("spread"),
    count,
    next: count,
    kids: z.record(
      z.string().regex(/^\d+$/),
      z.lazy((): z.ZodType<ListFrame> => ListFrame),
    ),
  }),
]);
export type StepState = Readonly<Exclude<z.infer<typeof StepState>, { kind: "spread" }>> | Spread;

/** `index`: how many steps this list has executed before this visit; it makes every visit's position unique. */
export type ListFrame = { readonly at: string; readonly index: number; readonly state: StepState };
const ListFrame: z.ZodType<ListFrame> = z.strictObject({ at: z.string(), index: count, state: StepState });

export type Cursor = { readonly run: number; readonly root: ListFrame };
const StoredCursor = z.strictObject({ version: z.literal(CURSOR_VERSION), run: count, root: ListFrame });

/** What a store keeps of a cursor. */
export function storedCursor({ run, root }: Cursor): Json {
  return asJson({ version: CURSOR_VERSION, run, root });
}

/**
 * The cursor that a store has of a session; null when there is nothing to resume. Throws `store_newer` when a later Ergon
 * wrote it, and `store_corrupt` when it is none.
 */
export function cursorOf({ core, cursor }: Pick<SessionRecord, "core" | "cursor">): Cursor | null {
  if (cursor === null) return null;
  const { sessionId } = core;
  const version = isObject(cursor) ? (cursor["version"] ?? 1) : undefined;
  if (typeof version === "number" && version > CURSOR_VERSION)
    throw storeError(
      "store_newer",
      `Session ${sessionId} was written by a newer Ergon (cursor version ${String(version)}; this one reads up to ${String(CURSOR_VERSION)}). Upgrade Ergon to go on with it.`,
      { details: { sessionId, version } },
    );
  const { success, data, error } = StoredCursor.safeParse(version === 1 ? upgraded(cursor) : cursor);
  if (success) return { run: data.run, root: data.root };
  throw storeError(
    "store_corrupt",
    `The cursor of session ${sessionId} cannot be read; restore a backup or cancel it.`,
    {
      details: { sessionId },
      cause: error,
    },
  );
}

/** Version 1 had no `version`; it said `slot` for `index`, and `keyOrd` for `keyPosition`. */
function upgraded(cursor: Json): Json {
  if (!isObject(cursor)) return cursor;
  return { ...cursor, version: 2, root: upgradedFrame(cursor["root"] ?? null) };
}

function upgradedFrame(frame: Json): Json {
  if (!isObject(frame)) return frame;
  const { slot = null, state = null, ...rest } = frame;
  return { ...rest, index: slot, state: upgradedState(state) };
}

function upgradedState(state: Json): Json {
  if (!isObject(state)) return state;
  const { kids, amendment: before } = state;
  if (isObject(kids))
    return { ...state, kids: Object.fromEntries(Object.entries(kids).map(([at, kid]) => [at, upgradedFrame(kid)])) };
  if (!isObject(before) || before["keyOrd"] === undefined) return state;
  const { keyOrd, ...rest } = before;
  return { ...state, amendment: { ...rest, keyPosition: keyOrd } };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
