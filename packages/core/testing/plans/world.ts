import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import { createChoice, type Choice } from "./choice.ts";

/**
 * Where a visit stands: `[run, slot, child, slot, child, slot, …]`. `run` starts at 1; every list (root, branch, loop
 * turn) numbers the steps that it executes from 0 (`slot`); `child` is the branch's or the turn's index.
 */
export type Position = readonly number[];

export type CallQuestion = {
  readonly position: Position;
  readonly stepId: string;
  readonly toolId: string;
  readonly args: JsonObject;
  /** 1 for the first attempt of a visit. */
  readonly attempt: number;
};
export type CallError = { readonly code: string; readonly message: string; readonly retryable: boolean };
export type CallAnswer = { readonly output: Json } | { readonly error: CallError };
export type Place = { readonly position: Position; readonly stepId: string };

/** All that a run meets. Every answer depends on the question alone, so neither order nor a crash can change it. */
export type World = {
  call(question: CallQuestion): CallAnswer;
  /** A person's input to a human step. */
  answer(place: Place): Json;
  /** A person's decision on a failed step. */
  decide(place: Place): { readonly action: "retry" } | { readonly action: "skip" };
};

/** What a random plan asks of a tool through its argument `shape`; any other value means "any of them". */
export const SHAPES = ["number", "string", "object", "array", "objects", "slot", "echo", "null", "any"] as const;
export type Shape = (typeof SHAPES)[number];

/** From this slot on no call of a list fails, so that a cycle that waits for a success ends. */
export const LAST_FAILING_SLOT = 40;
/** In every third slot the person skips, so that at most two retries follow each other. */
const SLOTS_PER_SKIP = 3;
const FAILURE_PERCENT = 10;
const RETRYABLE_PERCENT = 60;
const RETRY_PERCENT = 50;
const MAX_ECHO_CHARACTERS = 400;

export function seededWorld(seed: number): World {
  const choose = (kind: string, place: Place, extra: Json): Choice =>
    createChoice(`${String(seed)} ${kind} ${JSON.stringify([place.position, place.stepId, extra])}`);
  return {
    call(question) {
      const { args, attempt, position, stepId, toolId } = question;
      const choice = choose("call", question, [toolId, attempt]);
      if (slotOf(position) < LAST_FAILING_SLOT && choice.percent(FAILURE_PERCENT)) {
        const message = `${stepId} at ${position.join(".")}, attempt ${String(attempt)}`;
        return { error: { code: "tool_failed", message, retryable: choice.percent(RETRYABLE_PERCENT) } };
      }
      const shape = SHAPES.find((each) => each === args["shape"]) ?? "any";
      return { output: output(shape, question, choice) };
    },
    answer(place) {
      const choice = choose("answer", place, null);
      return {
        choice: choice.of(["yes", "no"]),
        n: choice.below(10),
        list: listOf(choice, 3, () => choice.below(10)),
        value: output(choice.of(["number", "string", "object", "array", "null"]), undefined, choice),
      };
    },
    decide(place) {
      if (slotOf(place.position) % SLOTS_PER_SKIP === SLOTS_PER_SKIP - 1) return { action: "skip" };
      return { action: choose("decide", place, null).percent(RETRY_PERCENT) ? "retry" : "skip" };
    },
  };
}

function slotOf(position: Position): number {
  return position.at(-1) ?? 0;
}

function output(shape: Shape, question: CallQuestion | undefined, choice: Choice): Json {
  switch (shape) {
    case "number":
      return choice.below(20) - 4;
    case "string":
      return choice.of(STRINGS);
    case "object":
      return record(choice);
    case "array":
      return listOf(choice, 4, () => choice.below(10));
    case "objects":
      return listOf(choice, 4, () => record(choice));
    case "slot":
      return question === undefined ? 0 : slotOf(question.position);
    case "echo":
      return echo(question);
    case "null":
      return null;
    case "any":
      return output(choice.of(SHAPES.slice(0, -1)), question, choice);
  }
}

/** Text that looks like a template, and values that look like pointers, are data: nothing may evaluate them. */
const STRINGS = ["a", "b", "abc", "", "ä ö", "{{$.promptInput.n}}", "$.context", '"quoted"\n'];

function record(choice: Choice): JsonObject {
  if (choice.percent(5)) return { jsonPath: "$.promptInput.n" };
  return { n: choice.below(10), s: choice.of(STRINGS), list: listOf(choice, 3, () => choice.below(5)) };
}

function listOf<Item>(choice: Choice, maxLength: number, item: () => Item): Item[] {
  return Array.from({ length: choice.below(maxLength + 1) }, item);
}

/** Echoes of echoes would double with every turn. */
function echo(question: CallQuestion | undefined): Json {
  const args = question?.args ?? {};
  return JSON.stringify(args).length <= MAX_ECHO_CHARACTERS ? { echo: args } : { echo: null };
}
