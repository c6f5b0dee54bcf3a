import { at, beside, called, each, finish, give, human, planOf, when, worldOf, type PlanCase } from "./plan-case.ts";

/** Pointers, messages, results. */
export const VALUE_CASES: readonly PlanCase[] = [
  {
    name: "a result is found under the tool's name and under saveAs",
    rule: "A result goes to `context['<toolId>_result']` and to `saveAs`.",
    plan: planOf([
      give("a", 1, { saveAs: "one", nextStepId: "b" }),
      give("b", [at("$.context['test::a_result']"), at("$.context.one")], { toolId: "test::b" }),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": 1, one: 1, "test::b_result": [1, 1] },
      history: [called("a", 1), called("b", [1, 1], "test::b")],
    },
  },
  {
    name: "saving one key twice in a list keeps the later value, over what the session had",
    rule: "A result goes to `context['<toolId>_result']` and to `saveAs`.",
    plan: planOf([
      give("a", 1, { saveAs: "k", nextStepId: "b" }),
      give("b", at("$.context.k"), { saveAs: "k", nextStepId: "c" }),
      give("c", 3, { saveAs: "k" }),
    ]),
    input: {},
    initialContext: { k: 0, other: "stays" },
    world: worldOf(),
    expected: {
      context: { k: 3, other: "stays", "test::a_result": 3 },
      history: [called("a", 1), called("b", 1), called("c", 3)],
    },
  },
  {
    name: "history is newest first",
    rule: "pointers see history newest first",
    plan: planOf([
      give("a", "old", { nextStepId: "b" }),
      give("b", "new", { nextStepId: "c" }),
      give("c", [at("$.history[0].result.output"), at("$.history[1].planStepId"), at("$.history[-1].request.value")]),
    ]),
    input: {},
    world: worldOf(),
    expected: {
      context: { "test::a_result": ["new", "a", "old"] },
      history: [called("a", "old"), called("b", "new"), called("c", ["new", "a", "old"])],
    },
  },
  {
    name: "a pointer to one node gives it, a query gives an array even of one element or none",
    rule: "A pointer to one node gives it; a query (filter, wildcard, slice) gives an array",
    plan: planOf([
      give("a", 7, { nextStepId: "b" }),
      give("b", {
        node: at("$.promptInput.list[1]"),
        slice: at("$.promptInput.list[1:2]"),
        all: at("$.promptInput.list[*]"),
        filter: at("$.history[?@.planStepId=='a'].result.output"),
        nothing: at("$.history[?@.planStepId=='b'].result.output"),
      }),
    ]),
    input: { list: [10, 20] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": { node: 20, slice: [20], all: [10, 20], filter: [7], nothing: [] } },
      history: [called("a", 7), called("b", { node: 20, slice: [20], all: [10, 20], filter: [7], nothing: [] })],
    },
  },
  {
    name: "first takes the first node of a query: the newest, in history",
    rule: 'unless the pointer says `"first": true`',
    plan: planOf([
      give("a", 1, { nextStepId: "if" }),
      when("if", { left: at("$.history[1]"), operator: "exists" }, "b", "a"),
      give("b", [
        { jsonPath: "$.history[?@.planStepId=='a'].toolId", first: true },
        { jsonPath: "$.promptInput.list[?@ > 10]", first: true },
        { jsonPath: "$.promptInput.list[?@ > 100]", first: true, default: "none" },
      ]),
    ]),
    input: { list: [10, 20, 30] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": ["test::a", 20, "none"] },
      history: [called("a", 1), called("a", 1), called("b", ["test::a", 20, "none"])],
    },
  },
  {
    name: "a default stands in for nothing, never for null, and is not evaluated itself",
    rule: "pointer that resolves to nothing … without `default`",
    plan: planOf([
      give("a", {
        missing: { jsonPath: "$.context.nope", default: 5 },
        empty: { jsonPath: "$.promptInput.empty", default: 5 },
        literal: { jsonPath: "$.context.nope", default: { jsonPath: "$.promptInput.empty" } },
      }),
    ]),
    input: { empty: null },
    world: worldOf(),
    expected: {
      context: { "test::a_result": { missing: 5, empty: null, literal: { jsonPath: "$.promptInput.empty" } } },
      history: [called("a", { missing: 5, empty: null, literal: { jsonPath: "$.promptInput.empty" } })],
    },
  },
  {
    name: "pointers work at any depth of arguments, and data that looks like one stays data",
    rule: "Pointers … anywhere inside arguments",
    plan: planOf([
      give("a", [{ deep: [at("$.promptInput.trap")] }, "{{$.promptInput.trap}}"], { saveAs: "k", nextStepId: "b" }),
      give("b", at("$.context.k[0].deep[0]"), { nextStepId: "end" }),
      finish("end", "{{$.promptInput.text}}"),
    ]),
    input: { trap: { jsonPath: "$.promptInput.text" }, text: "{{$.promptInput.trap}}" },
    world: worldOf(),
    expected: {
      context: {
        k: [{ deep: [{ jsonPath: "$.promptInput.text" }] }, "{{$.promptInput.trap}}"],
        "test::a_result": { jsonPath: "$.promptInput.text" },
        finalResponse: "{{$.promptInput.trap}}",
      },
      history: [
        called("a", [{ deep: [{ jsonPath: "$.promptInput.text" }] }, "{{$.promptInput.trap}}"]),
        called("b", { jsonPath: "$.promptInput.text" }),
      ],
    },
  },
  {
    name: "a message shows strings raw and everything else as JSON text",
    rule: "`{{$.path}}` works in messages.",
    plan: planOf(
      [
        human("h", { nextStepIdOnInput: "end" }),
        finish(
          "end",
          "{{$.promptInput.s}}, {{$.promptInput.n}}, {{$.promptInput.o}}, {{$.promptInput.l[?@ > 1]}}, {{$.context.human_input}}",
        ),
      ].map((step) =>
        step.type === "human_in_the_loop" ? { ...step, message: "{{$.promptInput.n}} or {{$.promptInput.z}}?" } : step,
      ),
    ),
    input: { s: 'a "b"', n: 1.5, o: { x: [true] }, l: [1, 2], z: null },
    world: worldOf(),
    expected: {
      context: { human_input: "yes", finalResponse: 'a "b", 1.5, {"x":[true]}, [2], yes' },
      history: [],
      asked: ["1.5 or null?"],
    },
  },
  {
    name: "a final response by pointer keeps its type",
    rule: "its value, type kept, is `context.finalResponse`",
    plan: planOf([finish("end", at("$.promptInput.o"))]),
    input: { o: { n: 1, list: [null] } },
    world: worldOf(),
    expected: { context: { finalResponse: { n: 1, list: [null] } }, history: [] },
  },
  {
    name: "a final response that is one template is a string",
    rule: "its value, type kept, is `context.finalResponse`; a string message is interpolated",
    plan: planOf([finish("end", "{{$.promptInput.n}}")]),
    input: { n: 1 },
    world: worldOf(),
    expected: { context: { finalResponse: "1" }, history: [] },
  },
  {
    name: "a loop turn has its item and its index, in nested lists too, and they end with the loop",
    rule: "In a loop turn, `$.context.<itemAlias>` is the item and `$.context.<itemAlias>_index` its index.",
    plan: planOf([
      each(
        "outer",
        "$.promptInput.rows",
        [
          beside("p", [
            [
              each(
                "inner",
                "$.context.row",
                [
                  give("a", [at("$.context.row_index"), at("$.context.cell_index"), at("$.context.cell")], {
                    saveAs: "cells",
                  }),
                ],
                { itemAlias: "cell" },
              ),
            ],
          ]),
        ],
        { itemAlias: "row", nextStepId: "if" },
      ),
      when("if", { left: at("$.context.row"), operator: "exists" }, "leaked", "if2"),
      when("if2", { left: at("$.context.cell_index"), operator: "exists" }, "leaked", "end"),
      finish("leaked", "leaked"),
      finish("end", at("$.context.cells[1][0]")),
    ]),
    input: { rows: [["x"], ["y", "z"]] },
    world: worldOf(),
    expected: {
      context: {
        "test::a_result": [1, 1, "z"],
        cells: [
          [[0, 0, "x"]],
          [
            [1, 0, "y"],
            [1, 1, "z"],
          ],
        ],
        finalResponse: [1, 0, "y"],
      },
      history: [called("a", [0, 0, "x"]), called("a", [1, 0, "y"]), called("a", [1, 1, "z"])],
    },
  },
  {
    name: "an alias hides a context key of its name inside the loop only",
    rule: "In a loop turn, `$.context.<itemAlias>` is the item",
    plan: planOf([
      each("l", "$.promptInput.items", [give("a", at("$.context.item"))], { nextStepId: "end" }),
      finish("end", at("$.context.item")),
    ]),
    input: { items: [1] },
    initialContext: { item: "mine" },
    world: worldOf(),
    expected: { context: { item: "mine", "test::a_result": 1, finalResponse: "mine" }, history: [called("a", 1)] },
  },
  {
    name: "human answers and other steps are not history",
    rule: "`HistoryEntry` is `{timestamp, toolId, request, result: {output} | {error}, planStepId}`",
    plan: planOf([
      human("h", { nextStepIdOnInput: "l" }),
      each("l", "$.promptInput.items", [human("h2")], { nextStepId: "if" }),
      when("if", { left: at("$.history[0]"), operator: "not_exists" }, "end"),
      finish("end", "none"),
    ]),
    input: { items: [1, 2] },
    world: worldOf({ answers: ({ position }) => position.join(".") }),
    expected: {
      context: { human_input: "1.1.1.0", finalResponse: "none" },
      history: [],
      asked: ["well?", "well?", "well?"],
    },
  },
];
