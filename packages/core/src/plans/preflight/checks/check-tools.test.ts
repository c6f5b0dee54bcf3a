import { describe, expect, it } from "vitest";
import { z } from "zod";
import { each } from "../../../../testing/plans/plan-case.ts";
import { defineTool } from "../../../tools/define.ts";
import { validatePlan } from "../../validate-plan.ts";
import { MAX_NAMED_ISSUES } from "./check-tools.ts";
import { call, demoRegistry, messages, plan, said } from "../preflight.fixture.ts";

const at = (jsonPath: string, parts: object = {}): object => ({ jsonPath, ...parts });
const greet = (id: string, args: object, parts: object = {}): object =>
  call(id, { toolId: "demo::greet", arguments: args, ...parts });

describe("tools", () => {
  it("must exist, alternatives too", () => {
    const unknown = plan([call("a", { toolId: "demo::gret", alternatives: ["demo::any", "greet", "zzzzzz"] })]);
    expect(said(unknown)).toEqual([
      "error unknown_tool $.steps[0].alternatives[1]",
      "error unknown_tool $.steps[0].alternatives[2]",
      "error unknown_tool $.steps[0].toolId",
    ]);
    expect(messages(unknown, "unknown_tool")).toEqual([
      'There is no tool "greet". Did you mean "demo::greet"?',
      'There is no tool "zzzzzz".',
      'There is no tool "demo::gret". Did you mean "demo::greet"?',
    ]);
  });

  it("must be for the role that runs the plan; without a role that is a warning", () => {
    const step = plan([call("a", { toolId: "lookUp", arguments: { personId: "p" } })]);
    const asRole = (role?: string): string[] =>
      said(step, role === undefined ? {} : { role }).filter((line) => line.includes("role"));
    expect(asRole("hiring")).toEqual(["error role_denied $.steps[0].toolId"]);
    expect(asRole("analyst")).toEqual([]);
    expect(asRole()).toEqual(["warning role_denied $.steps[0].toolId"]);
  });

  it("may ask for a key of the context by themselves", () => {
    const needs = call("a", { toolId: "lookUp", arguments: { personId: "p" }, nextStepId: "b" });
    const role = { role: "analyst" };
    expect(said(plan([needs, call("b")]), role)).toEqual(["warning context_missing $.steps[0].toolId"]);
    expect(said(plan([needs, call("b", { saveAs: "team" })]), role)).toEqual([
      "error context_missing $.steps[0].toolId",
    ]);
    const before = call("b", { saveAs: "team", nextStepId: "a" });
    expect(said(plan([before, { ...needs, nextStepId: undefined }]), role)).toEqual([]);
  });
});

describe("arguments", () => {
  it.each([
    [{}, "error missing_argument $.steps[0].arguments.who", '"demo::greet" needs the argument "who".'],
    [{ who: 3 }, "error argument_invalid $.steps[0].arguments.who", "It must be a string, not 3."],
    [{ who: "" }, "error argument_invalid $.steps[0].arguments.who", "It must have 1 characters or more."],
    [
      { who: "a", times: 1.5 },
      "error argument_invalid $.steps[0].arguments.times",
      "It must be a whole number, not 1.5.",
    ],
    [{ who: "a", times: 0 }, "error argument_invalid $.steps[0].arguments.times", "It must be 1 or more."],
    [
      { who: "a", mood: "hapy" },
      "error argument_invalid $.steps[0].arguments.mood",
      'It must be one of "happy", "sad". Did you mean "happy"?',
    ],
    [
      { who: "a", mood: "angry" },
      "error argument_invalid $.steps[0].arguments.mood",
      'It must be one of "happy", "sad".',
    ],
    [
      { who: "a", tims: 2 },
      "error unknown_argument $.steps[0].arguments.tims",
      '"demo::greet": "tims" is not known here. Did you mean "times"?',
    ],
    [
      { who: ["a", at("$.promptInput.b")] },
      "error argument_invalid $.steps[0].arguments.who",
      "It must be a string, not a list.",
    ],
    [
      { who: "{{$.promptInput.b}}" },
      "warning pointer_text $.steps[0].arguments.who",
      'This stays text. To read a value, write {"jsonPath": "$.…"} in place of the string.',
    ],
  ])("%j: %s", (args, line, message) => {
    const [, code = ""] = line.split(" ");
    expect(said(plan([greet("a", args)]))).toEqual([line]);
    expect(messages(plan([greet("a", args)]), code)).toEqual([message]);
  });

  it("may be pointers, and are checked around them", () => {
    expect(said(plan([greet("a", { who: at("$.promptInput.x"), times: 2 })]))).toEqual([]);
    const sum = (numbers: unknown): unknown => plan([call("a", { toolId: "demo::sum", arguments: { numbers } })]);
    expect(said(sum([1, at("$.promptInput.x"), 2]))).toEqual([]);
    expect(said(sum([1, at("$.promptInput.x"), "2"]))).toEqual([
      "error argument_invalid $.steps[0].arguments.numbers[2]",
    ]);
  });

  it("may be left to an action's own defaults", () => {
    const action = (args: object): string[] =>
      said(plan([call("a", { toolId: "lookUp", arguments: args })]), { role: "analyst" }).slice(0, -1);
    expect(action({})).toEqual(["warning missing_argument $.steps[0].arguments.personId"]);
    expect(action({ personId: 3 })).toEqual(["error argument_invalid $.steps[0].arguments.personId"]);
    expect(said(plan([call("a", { toolId: "count" })]))).toEqual(["error missing_argument $.steps[0].arguments.n"]);
  });

  it("may be of other types where a tool converts them", () => {
    const count = (args: object): string[] => said(plan([call("a", { toolId: "count", arguments: args })]));
    expect(count({ n: 1, step: "2", unit: "KM", mood: 3, text: 4 })).toEqual([]);
    expect(count({ n: "1" })).toEqual(["error argument_invalid $.steps[0].arguments.n"]);
  });

  it("that a tool would ignore silently give a warning when they look mistyped", () => {
    expect(said(plan([call("a", { toolId: "demo::sum", arguments: { numbers: [1], number: 2, other: 3 } })]))).toEqual(
      [],
    );
    const typo = plan([call("a", { toolId: "lookUp", arguments: { personId: "p", dept: 3 } })]);
    expect(messages(typo, "unknown_argument", { role: "analyst" })).toEqual([
      '"lookUp" has no argument "dept" and may ignore it. Did you mean "depth"?',
    ]);
  });
});

describe("messages that a tool's author wrote", () => {
  const search = (args: object): string[] => {
    const registry = demoRegistry();
    const argsSchema = z.object({
      queryText: z.string().min(1, "Query text cannot be empty").describe("The text to search for"),
      mail: z.email("Give an address of mail").optional(),
      code: z
        .string()
        .min(3, "Codes are longer")
        .regex(/^[A-Z]+$/)
        .optional(),
      tags: z.array(z.string().max(3, "Tags are short")).optional(),
    });
    registry.register(defineTool({ name: "search", description: "searches", argsSchema, run: () => null }));
    registry.register(
      defineTool({
        name: "odd",
        description: "odd",
        argsSchema: z.object({
          queryText: z.string().min(1, {
            error: () => {
              throw new Error("no words");
            },
          }),
        }),
        run: () => null,
      }),
    );
    const { toolId = "search", ...rest } = args as { toolId?: string };
    const { problems } = validatePlan(plan([call("a", { toolId, arguments: rest })]), { registry });
    return problems.map(({ code, path, message }) => `${code} ${path.replace("$.steps[0].arguments.", "")} ${message}`);
  };

  it("are shown in place of the schema's wording, also beside arguments that are known later", () => {
    const empty = "argument_invalid queryText Query text cannot be empty";
    expect(search({ queryText: "" })).toEqual([empty]);
    expect(search({ queryText: "", code: at("$.promptInput.code") })).toEqual([empty]);
    expect(search({ queryText: "a", tags: ["abc", "abcd", at("$.promptInput.tag")] })).toEqual([
      "argument_invalid tags[1] Tags are short",
    ]);
  });

  it("are shown once where the schema finds the same fault twice", () => {
    expect(search({ queryText: "a", mail: "nobody" })).toEqual(["argument_invalid mail Give an address of mail"]);
  });

  it("leave the schema's wording where the author wrote none for what is wrong", () => {
    expect(search({ queryText: 3 })).toEqual(["argument_invalid queryText It must be a string, not 3."]);
    expect(search({})).toEqual(['missing_argument queryText "search" needs the argument "queryText".']);
    expect(search({ queryText: "a", code: "ab" })).toEqual([
      "argument_invalid code It must have 3 characters or more.",
      'argument_invalid code It must match the pattern "^[A-Z]+$".',
    ]);
  });

  it("leave the schema's wording where the author's own function throws", () => {
    expect(search({ toolId: "odd", queryText: "" })).toEqual([
      "argument_invalid queryText It must have 1 characters or more.",
    ]);
  });
});

describe("alternatives", () => {
  const instead = (id: string, args: object, parts: object = {}): unknown =>
    plan([call("a", { alternatives: [id], arguments: args, ...parts })]);

  it("take the arguments of the step, or a warning says why they do not", () => {
    expect(said(instead("demo::greet", { who: "a" }))).toEqual([]);
    expect(said(instead("demo::greet", { who: at("$.promptInput.x") }))).toEqual([]);
    const wrong = instead("demo::greet", { tims: 3, mood: "sad" });
    expect(said(wrong)).toEqual(["warning alternative_mismatch $.steps[0].alternatives[0]"]);
    expect(messages(wrong, "alternative_mismatch")).toEqual([
      '"demo::greet" does not take the arguments of this step. arguments.who: "who" is required. arguments.tims: "tims" is not known here. Did you mean "times"?',
    ]);
  });

  it("may be given what is missing by their own defaults", () => {
    expect(said(instead("lookUp", {}), { role: "analyst" })).toEqual([]);
    expect(said(instead("lookUp", { personId: 3 }), { role: "analyst" })).toEqual([
      "warning alternative_mismatch $.steps[0].alternatives[0]",
    ]);
  });

  it("are not blamed for what the step's own tool refuses as well", () => {
    const own = (args: object): string[] => said(instead("demo::greet", args, { toolId: "count" }));
    expect(own({ n: 1 })).toEqual(["warning alternative_mismatch $.steps[0].alternatives[0]"]);
    const twice = instead("demo::greet", { who: 3 }, { toolId: "demo::greet" });
    expect(said(twice)).toEqual(["error argument_invalid $.steps[0].arguments.who"]);
    const both = instead("lookUp", { personId: 3, depth: "x" }, { toolId: "findAll" });
    const registry = demoRegistry();
    const parameters = { type: "object", properties: { personId: { type: "string" } } } as const;
    registry.register({
      definition: { id: "findAll", description: "finds all", parameters },
      implementation: () => Promise.resolve(null),
    });
    const { problems } = validatePlan(both, { registry, role: "analyst" });
    expect(problems.map(({ path, message }) => `${path} ${message}`)).toEqual([
      '$.steps[0].alternatives[0] "lookUp" does not take the arguments of this step. arguments.depth: It must be a number, not a string.',
      "$.steps[0].arguments.personId It must be a string, not 3.",
    ]);
  });

  it(`name ${String(MAX_NAMED_ISSUES)} of their issues and count the others`, () => {
    const numbers = (count: number): string =>
      messages(
        instead("demo::sum", { numbers: Array.from({ length: count }, () => "x") }),
        "alternative_mismatch",
      )[0] ?? "";
    expect(numbers(MAX_NAMED_ISSUES)).toMatch(/numbers\[4\]: It must be a number, not a string\.$/);
    expect(numbers(MAX_NAMED_ISSUES + 1)).toMatch(/numbers\[4\]: It must be a number, not a string\. And 1 more\.$/);
  });
});

describe("the flow of types", () => {
  const first = greet("first", { who: "a" }, { saveAs: "hello", nextStepId: "second" });

  it("follows what a tool gives to where it is used", () => {
    const use = (jsonPath: string, parts: object = {}): string[] =>
      said(plan([first, greet("second", { who: at(jsonPath, parts) })]));
    expect(use("$.context.hello.text")).toEqual([]);
    expect(use("$.context.hello.words[0]")).toEqual([]);
    expect(use("$.context.hello")).toEqual(["error type_mismatch $.steps[1].arguments.who"]);
    expect(use("$.context['demo::greet_result']")).toEqual(["error type_mismatch $.steps[1].arguments.who"]);
    expect(use("$.context.hello.words")).toEqual(["error type_mismatch $.steps[1].arguments.who"]);
    expect(use("$.context.hello", { default: "nobody" })).toEqual([]);
    expect(use("$.context.hello.txt")).toEqual(["error pointer_unreachable $.steps[1].arguments.who"]);
    expect(use("$.context.hello.txt", { default: "x" })).toEqual([]);
    expect(use("$.context.hello.text.length")).toEqual(["error pointer_unreachable $.steps[1].arguments.who"]);
  });

  it("knows that a query gives a list", () => {
    const use = (parts: object): unknown =>
      plan([first, greet("second", { who: at("$.context.hello.words[*]", parts) })]);
    expect(said(use({}))).toEqual(["error type_mismatch $.steps[1].arguments.who"]);
    expect(messages(use({}), "type_mismatch")).toEqual([
      '"$.context.hello.words[*]" gives a list; a string is needed here.',
    ]);
    expect(said(use({ first: true }))).toEqual([]);
  });

  it("knows that a loop leaves a list of what its turns saved, and gives its items and their index to them", () => {
    const parameters = { type: "object", properties: { names: { type: "array", items: { type: "string" } } } };
    const loop = (inner: object, jsonPath: string): string[] =>
      said(
        plan(
          [
            each("l", "$.promptInput.names", [inner as never], { nextStepId: "end" }),
            greet("end", { who: at(jsonPath) }),
          ],
          { parameters },
        ),
      );
    const turn = (jsonPath: string): object => greet("turn", { who: at(jsonPath) }, { saveAs: "hello" });
    expect(loop(turn("$.context.item"), "$.context.hello[0].text")).toEqual([]);
    expect(loop(turn("$.context.item"), "$.context['demo::greet_result'].text")).toEqual([]);
    expect(loop(turn("$.context.item"), "$.context.hello")).toEqual(["error type_mismatch $.steps[1].arguments.who"]);
    expect(loop(turn("$.context.item"), "$.context.hello.text")).toEqual([
      "error pointer_unreachable $.steps[1].arguments.who",
    ]);
    expect(loop(turn("$.context.item_index"), "$.context.hello[0].text")).toEqual([
      "error type_mismatch $.steps[0].loopPlan[0].arguments.who",
    ]);
  });

  it("knows the plan's input and people's answers", () => {
    const parameters = {
      type: "object",
      properties: { n: { type: "integer" }, both: { type: ["integer", "string"] } },
    };
    const use = (jsonPath: string): string[] => said(plan([greet("a", { who: at(jsonPath) })], { parameters }));
    expect(use("$.promptInput.n")).toEqual(["error type_mismatch $.steps[0].arguments.who"]);
    expect(use("$.promptInput.both")).toEqual([]);
    const asked = {
      id: "ask",
      type: "human_in_the_loop",
      message: "?",
      inputSchema: { type: "boolean" },
      saveAs: "yes",
      nextStepIdOnInput: "a",
    };
    expect(said(plan([asked, greet("a", { who: at("$.context.yes") })]))).toEqual([
      "error type_mismatch $.steps[1].arguments.who",
    ]);
  });

  it("says nothing where one of the possible values may fit", () => {
    const other = call("other", { saveAs: "hello", nextStepId: "second" });
    const start = {
      id: "if",
      type: "conditional_branch",
      condition: { left: at("$.promptInput.x"), operator: "equals", right: 1 },
      onTrue: { nextStepId: "first" },
      onFalse: { nextStepId: "other" },
    };
    const second = greet("second", { who: at("$.context.hello") });
    expect(said(plan([start, first, other, second]))).toEqual([]);
    expect(said(plan([{ ...first, alternatives: ["demo::any"] }, second]))).toEqual([]);
  });

  it("asks a loop for a list", () => {
    const parameters = { type: "object", properties: { n: { type: "integer" } } };
    const loop = (jsonPath: string, parts: object = {}): string[] =>
      said(plan([{ ...each("l", jsonPath, [call("a") as never]), ...parts }], { parameters }));
    expect(loop("$.promptInput.n")).toEqual(["error type_mismatch $.steps[0].collectionPath"]);
    expect(loop("$.history[0:2].toolId")).toEqual([]);
    expect(loop("$.promptInput.n", { collectionPath: { jsonPath: "$.promptInput.n", default: [] } })).toEqual([]);
  });
});
