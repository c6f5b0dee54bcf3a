import { at, beside, called, each, finish, give, human, planOf, when, worldOf, type PlanCase } from "./plan-case.ts";

const ifTwo = when("if", { left: at("$.context.item"), operator: "equals", right: 2 }, "save");

/** What a loop leaves behind. */
export const LOOP_CASES: readonly PlanCase[] = [
  {
    name: "after a loop a saved key holds all turns in item order, one item included",
    rule: "After a loop, a key saved in it holds the array of all turns in item order",
    plan: planOf([
      each("l", "$.promptInput.items", [give("a", at("$.context.item"), { saveAs: "k" })], {
        concurrency: 2,
        nextStepId: "m",
      }),
      each("m", "$.promptInput.one", [give("b", at("$.context.item"), { saveAs: "single" })]),
    ]),
    input: { items: [3, 1, 2], one: ["only"] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": "only", k: [3, 1, 2], single: ["only"] },
      history: [called("a", 3), called("a", 1), called("a", 2), called("b", "only")],
    },
  },
  {
    name: "a turn that did not save holds null, whatever the key was before the loop",
    rule: "`null` for a turn that did not save it",
    plan: planOf([
      give("before", "old", { saveAs: "k", nextStepId: "l" }),
      each("l", "$.promptInput.items", [ifTwo, give("save", at("$.context.k"), { saveAs: "k" })]),
    ]),
    input: { items: [1, 2, 3] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": "old", k: [null, "old", null] },
      history: [called("before", "old"), called("save", "old")],
    },
  },
  {
    name: "implicit keys after a loop take the last turn's in item order that wrote one",
    rule: "`<toolId>_result` and `human_input` take the last branch's in order",
    plan: planOf([each("l", "$.promptInput.items", [ifTwo, give("save", at("$.context.item"))])]),
    input: { items: [2, 2, 1] },
    initialContext: { "test::a_result": "earlier" },
    world: worldOf(),
    expected: { context: { "test::a_result": 2 }, history: [called("save", 2), called("save", 2)] },
  },
  {
    name: "a loop over nothing leaves empty arrays for all keys that it could save",
    rule: "`[]` for no turns",
    plan: planOf([
      each(
        "l",
        "$.promptInput.none",
        [
          give("a", 1, { saveAs: "direct", nextStepId: "p" }),
          beside("p", [
            [human("h", { saveAs: "asked" })],
            [each("m", "$.promptInput.none", [give("b", 1, { saveAs: "deep" })], { itemAlias: "inner" })],
          ]),
        ],
        { nextStepId: "end" },
      ),
      finish("end", at("$.context.direct")),
    ]),
    input: { none: [] },
    initialContext: { direct: "old", "test::a_result": "kept" },
    world: worldOf(),
    expected: {
      context: { direct: [], asked: [], deep: [], "test::a_result": "kept", finalResponse: [] },
      history: [],
    },
  },
  {
    name: "nested loops nest arrays: empty where the inner had no items, null where it did not run",
    rule: "nested loops nest arrays",
    plan: planOf([
      each(
        "l",
        "$.promptInput.rows",
        [
          when("if", { left: at("$.context.row"), operator: "contains", right: "stop" }, undefined, "m"),
          each("m", "$.context.row", [give("a", at("$.context.item"), { saveAs: "k" })]),
        ],
        { itemAlias: "row" },
      ),
    ]),
    input: { rows: [["x", "y"], [], ["stop"], ["z"]] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": "z", k: [["x", "y"], [], null, ["z"]] },
      history: [called("a", "x"), called("a", "y"), called("a", "z")],
    },
  },
  {
    name: "keys saved in branches inside a loop become arrays of turns",
    rule: "After a loop, a key saved in it holds the array of all turns in item order",
    plan: planOf([
      each("l", "$.promptInput.items", [
        beside("p", [
          [give("x", at("$.context.item"), { saveAs: "x" })],
          [ifTwo, give("save", "two", { saveAs: "y" })],
        ]),
      ]),
    ]),
    input: { items: [1, 2] },
    world: worldOf(),
    expected: {
      context: { "test::a_result": "two", x: [1, 2], y: [null, "two"] },
      history: [called("x", 1), called("x", 2), called("save", "two")],
    },
  },
  {
    name: "human steps in branches and turns answer where they stand",
    rule: "human steps work inside branches and loops",
    plan: planOf([
      each(
        "l",
        "$.promptInput.items",
        [
          human("h", { saveAs: "answers", nextStepIdOnInput: "a" }),
          give("a", at("$.context.human_input"), { saveAs: "seen" }),
        ],
        { concurrency: 3 },
      ),
    ]),
    input: { items: ["p", "q"] },
    world: worldOf({ answers: ({ position }) => position.join(".") }),
    expected: {
      context: {
        human_input: "1.0.1.0",
        answers: ["1.0.0.0", "1.0.1.0"],
        seen: ["1.0.0.0", "1.0.1.0"],
        "test::a_result": "1.0.1.0",
      },
      history: [called("a", "1.0.0.0"), called("a", "1.0.1.0")],
      asked: ["well?", "well?"],
    },
  },
  {
    name: "a loop can go over a query, and over an earlier loop's results",
    rule: "a query (filter, wildcard, slice) gives an array",
    plan: planOf([
      each("l", "$.promptInput.people[?@.age > 17].name", [give("a", at("$.context.item"), { saveAs: "names" })], {
        nextStepId: "m",
      }),
      each("m", "$.context.names", [give("b", at("$.context.item_index"), { saveAs: "indexes" })]),
    ]),
    input: {
      people: [
        { name: "Ana", age: 20 },
        { name: "Bo", age: 7 },
        { name: "Cy", age: 18 },
      ],
    },
    world: worldOf(),
    expected: {
      context: { "test::a_result": 1, names: ["Ana", "Cy"], indexes: [0, 1] },
      history: [called("a", "Ana"), called("a", "Cy"), called("b", 0), called("b", 1)],
    },
  },
  {
    name: "a loop that runs again replaces its arrays",
    rule: "After a loop, a key saved in it holds the array of all turns",
    plan: planOf([
      each("l", "$.promptInput.items", [give("a", at("$.history[*].planStepId"), { saveAs: "k" })], {
        nextStepId: "if",
      }),
      when("if", { left: at("$.history[2]"), operator: "exists" }, "end", "l"),
      finish("end", at("$.context.k")),
    ]),
    input: { items: ["x", "y"] },
    world: worldOf(),
    expected: {
      context: {
        "test::a_result": ["a", "a"],
        k: [
          ["a", "a"],
          ["a", "a"],
        ],
        finalResponse: [
          ["a", "a"],
          ["a", "a"],
        ],
      },
      history: [called("a", []), called("a", []), called("a", ["a", "a"]), called("a", ["a", "a"])],
    },
  },
];
