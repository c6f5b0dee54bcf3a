import { at, beside, called, each, finish, give, human, planOf, worldOf, type PlanCase } from "./plan-case.ts";

/** What branches and turns see, and what is left of them after the join. */
export const JOIN_CASES: readonly PlanCase[] = [
  {
    name: "a branch sees the context where it began and its own, not its sibling's",
    rule: "A branch or a loop turn sees the context and history as they were where it began, plus its own",
    plan: planOf([
      give("before", "b", { nextStepId: "p" }),
      beside("p", [
        [
          give("left", "l", { nextStepId: "left2" }),
          give("left2", at("$.context['test::a_result']"), { saveAs: "sawLeft" }),
        ],
        [give("right", at("$.context['test::a_result']"), { saveAs: "sawRight" })],
      ]),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": "b", sawLeft: "l", sawRight: "b" },
      history: [called("before", "b"), called("left", "l"), called("left2", "l"), called("right", "b")],
    },
  },
  {
    name: "a branch sees the history where it began and its own, not its sibling's",
    rule: "A branch or a loop turn sees the context and history as they were where it began, plus its own",
    plan: planOf([
      give("before", 0, { nextStepId: "p" }),
      beside(
        "p",
        [
          [give("x", at("$.history[*].planStepId"), { nextStepId: "x2" }), give("x2", at("$.history[*].planStepId"))],
          [give("y", at("$.history[*].planStepId"))],
        ],
        "after",
      ),
      give("after", at("$.history[*].planStepId")),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": ["y", "x2", "x", "before"] },
      history: [
        called("before", 0),
        called("x", ["before"]),
        called("x2", ["x", "before"]),
        called("y", ["before"]),
        called("after", ["y", "x2", "x", "before"]),
      ],
    },
  },
  {
    name: "a turn does not see another turn's result or history",
    rule: "A branch or a loop turn sees the context and history as they were where it began, plus its own",
    plan: planOf([
      each("l", "$.promptInput.items", [
        give(
          "a",
          [
            { jsonPath: "$.context.k", default: "no k" },
            { jsonPath: "$.context['test::a_result']", default: "no result" },
            at("$.history[*].planStepId"),
          ],
          { saveAs: "k" },
        ),
      ]),
    ]),
    input: { items: [1, 2] },
    world: worldOf(),
    expected: {
      context: {
        "test::a_result": ["no k", "no result", []],
        k: [
          ["no k", "no result", []],
          ["no k", "no result", []],
        ],
      },
      history: [called("a", ["no k", "no result", []]), called("a", ["no k", "no result", []])],
    },
  },
  {
    name: "history appends in branch and turn order, nested or not",
    rule: "at the join history appends in branch order",
    plan: planOf([
      each(
        "l",
        "$.promptInput.items",
        [
          beside("p", [[give("x", at("$.context.item"))], [give("y", at("$.context.item"))]], "z"),
          give("z", at("$.context.item")),
        ],
        { concurrency: 4 },
      ),
    ]),
    input: { items: [1, 2] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": 2 },
      history: [called("x", 1), called("y", 1), called("z", 1), called("x", 2), called("y", 2), called("z", 2)],
    },
  },
  {
    name: "saveAs keys of all branches merge",
    rule: "At the join of branches, `saveAs` keys merge",
    plan: planOf([
      beside(
        "p",
        [
          [give("x", 1, { saveAs: "x" })],
          [beside("q", [[give("y", 2, { saveAs: "y" })], [give("z", 3, { saveAs: "k" })]])],
        ],
        "end",
      ),
      finish("end", "{{$.context.x}}{{$.context.y}}{{$.context.k}}"),
    ]),
    input: {},
    initialContext: { k: "old" },
    world: worldOf(),
    expected: {
      context: { "test::a_result": 3, x: 1, y: 2, k: 3, finalResponse: "123" },
      history: [called("x", 1), called("y", 2), called("z", 3)],
    },
  },
  {
    name: "implicit keys take the last branch's in order that wrote one",
    rule: "`<toolId>_result` and `human_input` take the last branch's in order",
    plan: planOf([
      beside("p", [
        [give("a0", 0, { nextStepId: "h0" }), human("h0")],
        [give("a1", 1)],
        [human("h2", { nextStepIdOnInput: "b2" }), give("b2", 2, { toolId: "test::b" })],
      ]),
    ]),
    input: {},
    world: worldOf({ answers: ({ stepId }) => stepId }),
    expected: {
      context: { "test::a_result": 1, human_input: "h2", "test::b_result": 2 },
      history: [called("a0", 0), called("a1", 1), called("b2", 2, "test::b")],
      asked: ["well?", "well?"],
    },
  },
];
