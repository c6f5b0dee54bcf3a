import {
  at,
  beside,
  broken,
  called,
  each,
  failed,
  finish,
  give,
  human,
  planOf,
  refused,
  when,
  worldOf,
  type PlanCase,
} from "./plan-case.ts";

/** What fails, what is tried again, and what a person decides. */
export const FAILURE_CASES: readonly PlanCase[] = [
  {
    name: "an automatic retry that succeeds leaves one entry",
    rule: "`tool_call` takes `retry {maxAttempts, backoffMs}`; one entry per visit",
    plan: planOf([give("a", 1, { saveAs: "k", retry: { maxAttempts: 3, backoffMs: 1 } })]),
    input: {},
    world: worldOf({ fails: ({ attempt }) => (attempt < 3 ? broken : undefined) }),
    expected: { context: { "test::a_result": 1, k: 1 }, history: [called("a", 1)] },
  },
  {
    name: "when attempts are used up the step has failed, with the last error",
    rule: "Retries happen … while attempts remain (attempt < maxAttempts)",
    plan: planOf([give("a", 1, { saveAs: "k", retry: { maxAttempts: 2 }, nextStepId: "b" }), give("b", 2)]),
    input: {},
    world: worldOf({
      fails: ({ stepId, attempt }) =>
        stepId === "a" && attempt < 3 ? { ...broken, message: `attempt ${String(attempt)}` } : undefined,
    }),
    expected: {
      context: { "test::a_result": 2 },
      history: [failed("a", 1, { ...broken, message: "attempt 2" }), called("b", 2)],
    },
  },
  {
    name: "an error that is not retryable is not retried",
    rule: "an error with retryable false is not retried automatically",
    plan: planOf([
      give("a", 1, { retry: { maxAttempts: 5 }, nextStepId: "end" }),
      finish("end", at("$.history[0].result.error.message")),
    ]),
    input: {},
    world: worldOf({ fails: ({ attempt }) => (attempt === 1 ? refused : undefined) }),
    expected: { context: { finalResponse: "refused" }, history: [failed("a", 1, refused)] },
  },
  {
    name: "without a retry policy there is one attempt",
    rule: "`tool_call` takes `retry {maxAttempts, backoffMs}`",
    plan: planOf([give("a", 1)]),
    input: {},
    world: worldOf({ fails: ({ attempt }) => (attempt === 1 ? broken : undefined) }),
    expected: { context: {}, history: [failed("a", 1)] },
  },
  {
    name: "a skipped call writes nothing and goes on",
    rule: 'A failed tool call waits for a person; "skip" goes on with nextStepId with no writes',
    plan: planOf([
      give("a", 1, { saveAs: "k", optional: true, nextStepId: "if" }),
      when("if", { left: at("$.context.k"), operator: "exists" }, undefined, "end"),
      finish("end", "skipped"),
    ]),
    input: {},
    world: worldOf({ fails: () => broken }),
    expected: { context: { finalResponse: "skipped" }, history: [failed("a", 1)] },
  },
  {
    name: "a person's retry is a new visit: the next slot, attempts from 1, the failed entry in sight",
    rule: "A person's retry of a failed tool step is a new visit: it takes the next slot in its list.",
    plan: planOf([
      give(
        "a",
        { jsonPath: "$.history[0].result.error.code", default: "none yet" },
        { retry: { maxAttempts: 2 }, nextStepId: "b" },
      ),
      give("b", 2),
    ]),
    input: {},
    world: worldOf({
      fails: ({ position, attempt }) =>
        position.join() === "1,0" || (position.join() === "1,1" && attempt === 1) ? broken : undefined,
      decides: ({ position }) => (position.join() === "1,0" ? "retry" : "skip"),
    }),
    expected: {
      context: { "test::a_result": 2 },
      history: [failed("a", "none yet"), called("a", "tool_failed"), called("b", 2)],
    },
  },
  {
    name: "a failed branch does not stop its siblings, and the join waits for it",
    rule: "A branch that waits or fails does not stop its siblings",
    plan: planOf([
      beside(
        "p",
        [
          [give("x", 1, { saveAs: "x", nextStepId: "x2" }), give("x2", 2, { saveAs: "x2" })],
          [give("y", 3, { saveAs: "y" })],
        ],
        "end",
      ),
      finish("end", at("$.history[*].planStepId")),
    ]),
    input: {},
    world: worldOf({ fails: ({ stepId }) => (stepId === "x" ? broken : undefined) }),
    expected: {
      context: { "test::a_result": 3, x2: 2, y: 3, finalResponse: ["y", "x2", "x"] },
      history: [failed("x", 1), called("x2", 2), called("y", 3)],
    },
  },
  {
    name: "a turn whose call was skipped holds null, a retried one its value",
    rule: "`null` for a turn that did not save it",
    plan: planOf([
      each("l", "$.promptInput.items", [give("a", at("$.context.item"), { saveAs: "k" })], { concurrency: 2 }),
    ]),
    input: { items: ["ok", "skip", "retry"] },
    world: worldOf({
      fails: ({ position, args }) => (args["value"] !== "ok" && position.at(-1) === 0 ? broken : undefined),
      decides: ({ position }) => (position[2] === 2 ? "retry" : "skip"),
    }),
    expected: {
      context: { "test::a_result": "retry", k: ["ok", null, "retry"] },
      history: [called("a", "ok"), failed("a", "skip"), failed("a", "retry"), called("a", "retry")],
    },
  },
  {
    name: "an argument that leads to nothing fails the step without a call",
    rule: "Evaluation errors … are a failed step that waits for a person too … Such failures make no history entry",
    plan: planOf([
      give("a", [1, at("$.context.nope")], { saveAs: "k", retry: { maxAttempts: 3 }, nextStepId: "b" }),
      give("b", 2),
    ]),
    input: {},
    world: worldOf({ decides: ({ position }) => (position.join() === "1,0" ? "retry" : "skip") }),
    expected: { context: { "test::a_result": 2 }, history: [called("b", 2)] },
  },
  {
    name: "a collection that is not an array fails the loop; skipped, it goes on and saves nothing",
    rule: "A collection that is not an array fails the step (`not_iterable`).",
    plan: planOf([
      each("l", "$.promptInput.object", [give("a", 1, { saveAs: "k" })], { nextStepId: "end" }),
      finish("end", { jsonPath: "$.context.k", default: "nothing saved" }),
    ]),
    input: { object: { length: 2 } },
    world: worldOf({ decides: ({ position }) => (position.at(-1) === 2 ? "skip" : "retry") }),
    expected: { context: { finalResponse: "nothing saved" }, history: [] },
  },
  {
    name: "a string is not a collection, and null is not one either",
    rule: "A collection that is not an array fails the step (`not_iterable`).",
    plan: planOf([
      each("l", "$.promptInput.text", [give("a", 1)], { nextStepId: "m" }),
      each("m", "$.promptInput.nothing", [give("b", 1)], { nextStepId: "n" }),
      each("n", "$.promptInput.missing", [give("c", 1)], { nextStepId: "end" }),
      finish("end", "done"),
    ]),
    input: { text: "abc", nothing: null },
    world: worldOf(),
    expected: { context: { finalResponse: "done" }, history: [] },
  },
  {
    name: "an order of two types fails the condition; skipped, it goes to onFalse",
    rule: "ordering number-number or string-string else condition_type; skip of a conditional: going to onFalse",
    plan: planOf([
      when("if", { left: at("$.promptInput.n"), operator: "greater_than", right: "1" }, "yes", "no"),
      finish("yes", "yes"),
      finish("no", "no"),
    ]),
    input: { n: 2 },
    world: worldOf(),
    expected: { context: { finalResponse: "no" }, history: [] },
  },
  {
    name: "a final response that leads to nothing, skipped, ends the plan without one",
    rule: "skip … of a final_response: ends the plan with no finalResponse",
    plan: planOf([give("a", 1, { nextStepId: "end" }), finish("end", "so: {{$.context.nope}}")]),
    input: {},
    world: worldOf(),
    expected: { context: { "test::a_result": 1 }, history: [called("a", 1)] },
  },
  {
    name: "a failure deep inside loops and branches leaves all other turns whole",
    rule: "A branch that waits or fails does not stop its siblings",
    plan: planOf([
      each(
        "l",
        "$.promptInput.rows",
        [
          beside("p", [
            [each("m", "$.context.row", [give("a", at("$.context.item"), { saveAs: "k" })])],
            [human("h", { saveAs: "answers" })],
          ]),
        ],
        { itemAlias: "row", concurrency: 2 },
      ),
    ]),
    input: { rows: [[1, 2], 3, [4]] },
    world: worldOf({
      fails: ({ args }) => (args["value"] === 2 ? refused : undefined),
      answers: ({ position }) => position[2] ?? null,
    }),
    expected: {
      context: { "test::a_result": 4, k: [[1, null], null, [4]], answers: [0, 1, 2], human_input: 2 },
      history: [called("a", 1), failed("a", 2, refused), called("a", 4)],
      asked: ["well?", "well?", "well?"],
    },
  },
];
