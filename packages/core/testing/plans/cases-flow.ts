import { at, beside, called, each, finish, give, human, planOf, when, worldOf, type PlanCase } from "./plan-case.ts";

/** Which step comes next, and where a list ends. */
export const FLOW_CASES: readonly PlanCase[] = [
  {
    name: "a plan starts at its startStepId, wherever that stands",
    rule: "startStepId; a step names only steps of its own list",
    plan: planOf([give("b", 2), give("a", 1, { nextStepId: "b" })], "a"),
    input: {},
    world: worldOf(),
    expected: { context: { "test::a_result": 2 }, history: [called("a", 1), called("b", 2)] },
  },
  {
    name: "a nested list starts at its first step and follows nextStepId, not the order of the list",
    rule: "In a nested list the first step starts.",
    plan: planOf([
      beside("p", [
        [give("x", 1, { nextStepId: "z" }), give("y", 3, { saveAs: "last" }), give("z", 2, { nextStepId: "y" })],
      ]),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": 3, last: 3 },
      history: [called("x", 1), called("z", 2), called("y", 3)],
    },
  },
  {
    name: "a step with no nextStepId ends the plan, with no final response",
    rule: "A step with no `nextStepId` ends its list: the branch, the loop turn, or the plan.",
    plan: planOf([
      when("if", { left: at("$.promptInput.go"), operator: "equals", right: true }, "a"),
      give("a", 1, { nextStepId: "end" }),
      finish("end", "done"),
    ]),
    input: { go: false },
    world: worldOf(),
    expected: { context: {}, history: [] },
  },
  {
    name: "a list that ends inside a branch ends that branch only",
    rule: "A step with no `nextStepId` ends its list: the branch, the loop turn, or the plan.",
    plan: planOf([
      beside(
        "p",
        [
          [when("if", { left: 1, operator: "equals", right: 2 }, "never"), give("never", 1, { saveAs: "never" })],
          [give("other", 2, { saveAs: "other" })],
        ],
        "end",
      ),
      finish("end", "done"),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": 2, other: 2, finalResponse: "done" },
      history: [called("other", 2)],
    },
  },
  {
    name: "a list that ends inside a loop turn ends that turn only",
    rule: "A step with no `nextStepId` ends its list: the branch, the loop turn, or the plan.",
    plan: planOf([
      each("l", "$.promptInput.items", [
        when("if", { left: at("$.context.item"), operator: "greater_than", right: 1 }, "keep"),
        give("keep", at("$.context.item"), { saveAs: "kept" }),
      ]),
    ]),
    input: { items: [1, 2, 3] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": 3, kept: [null, 2, 3] },
      history: [called("keep", 2), called("keep", 3)],
    },
  },
  {
    name: "both arms of a conditional can lead to one step",
    rule: "onTrue: { nextStepId }, onFalse: { nextStepId }",
    plan: planOf([
      when("if", { left: at("$.promptInput.n"), operator: "less_than", right: 5 }, "small", "large"),
      give("small", "small", { saveAs: "size", nextStepId: "end" }),
      give("large", "large", { saveAs: "size", nextStepId: "end" }),
      finish("end", at("$.context.size")),
    ]),
    input: { n: 7 },
    world: worldOf(),
    expected: {
      context: { "test::a_result": "large", size: "large", finalResponse: "large" },
      history: [called("large", "large")],
    },
  },
  {
    name: "a conditional can go back until enough was done",
    rule: "cycles are allowed while they have a way out",
    plan: planOf([
      give("again", at("$.promptInput.n"), { nextStepId: "if" }),
      when("if", { left: at("$.history[2]"), operator: "exists" }, "end", "again"),
      finish("end", at("$.history[*].result.output")),
    ]),
    input: { n: 4 },
    world: worldOf(),
    expected: {
      context: { "test::a_result": 4, finalResponse: [4, 4, 4] },
      history: [called("again", 4), called("again", 4), called("again", 4)],
    },
  },
  {
    name: "every visit of a step in a list takes the next slot, conditionals included",
    rule: "the key of a call holds its step path, loop index and visit count included",
    plan: planOf([
      human("h", { nextStepIdOnInput: "again" }),
      give("again", null, { toolId: "test::b", saveAs: "slot", nextStepId: "if" }),
      when("if", { left: at("$.context.slot"), operator: "greater_or_equal", right: 5 }, undefined, "again"),
    ]),
    input: {},
    world: {
      ...worldOf(),
      call: ({ position }) => ({ output: position.at(-1) ?? null }),
    },
    expected: {
      context: { human_input: "yes", "test::b_result": 5, slot: 5 },
      history: [1, 3, 5].map((slot) => ({
        toolId: "test::b",
        request: { value: null },
        result: { output: slot },
        planStepId: "again",
      })),
      asked: ["well?"],
    },
  },
  {
    name: "a nested visit's position names slot, child and slot down to it",
    rule: "the key of a call holds its step path, loop index and visit count included",
    plan: planOf([
      give("first", "one", { nextStepId: "p" }),
      beside("p", [
        [give("left", "two")],
        [each("l", "$.promptInput.items", [give("shallow", "three", { nextStepId: "deep" }), give("deep", "four")])],
      ]),
    ]),
    input: { items: ["x", "y"] },
    world: { ...worldOf(), call: ({ position }) => ({ output: position.join(".") }) },
    expected: {
      context: { "test::a_result": "1.1.1.0.1.1" },
      history: [
        ["first", "one", "1.0"],
        ["left", "two", "1.1.0.0"],
        ["shallow", "three", "1.1.1.0.0.0"],
        ["deep", "four", "1.1.1.0.0.1"],
        ["shallow", "three", "1.1.1.0.1.0"],
        ["deep", "four", "1.1.1.0.1.1"],
      ].map(([planStepId = "", value = "", output = ""]) => ({
        toolId: "test::a",
        request: { value },
        result: { output },
        planStepId,
      })),
    },
  },
  {
    name: "a human step waits for input and goes on with nextStepIdOnInput",
    rule: "A human's answer is `context.human_input`; `human_in_the_loop` takes `saveAs`",
    plan: planOf([
      human("h", { saveAs: "answer", nextStepIdOnInput: "use" }),
      give("use", [at("$.context.human_input"), at("$.context.answer.n")]),
    ]),
    input: {},
    world: worldOf({ answers: () => ({ n: 3 }) }),
    expected: {
      context: { human_input: { n: 3 }, answer: { n: 3 }, "test::a_result": [{ n: 3 }, 3] },
      history: [called("use", [{ n: 3 }, 3])],
      asked: ["well?"],
    },
  },
];
