import { describe, expect, it } from "vitest";
import { MAX_JSON_DEPTH, MAX_JSON_NODES } from "../../schema/values/json.ts";
import { MAX_BRANCHES, MAX_PLAN_NESTING, MAX_PLAN_STEPS } from "../../schema/plan.ts";
import { MAX_FAULTS } from "./plain-copy.ts";
import { call, messages, plan, said } from "./preflight.fixture.ts";

describe("the form of a plan", () => {
  it("is checked as a whole: each wrong step is named, and none hides another", () => {
    const wrong = plan(
      [
        call("a", { nextStep: "b" }),
        { id: "b", type: "toolcall", toolId: "demo::gret", nextStepId: "c" },
        { id: "c", type: "human_in_the_loop", nextStepId: "d" },
        {
          id: "d",
          type: "loop_over_items",
          collectionPath: { jsonPath: "$.promptInput.x" },
          itemAlias: "__proto__",
          loopPlan: [],
        },
        call("e", { retry: { maxAttempt: 3 }, timeoutMs: 0 }),
        "f",
      ],
      { planID: 1, planId: "a b", description: 7 },
    );
    expect(said(wrong)).toEqual([
      "error invalid_field $.description",
      "error unknown_field $.planID",
      "error invalid_field $.planId",
      "error unknown_field $.steps[0].nextStep",
      "error unknown_tool $.steps[1].toolId",
      "error unknown_step_type $.steps[1].type",
      "error missing_field $.steps[2].message",
      "error unknown_field $.steps[2].nextStepId",
      "error invalid_field $.steps[3].itemAlias",
      "error invalid_field $.steps[3].loopPlan",
      "error unreachable_step $.steps[4]",
      "error unknown_field $.steps[4].retry.maxAttempt",
      "error missing_field $.steps[4].retry.maxAttempts",
      "error invalid_field $.steps[4].timeoutMs",
      "error invalid_field $.steps[5]",
      "error unreachable_step $.steps[5]",
    ]);
  });

  it.each([
    [{ nextStep: "b" }, 'unknown_field: "nextStep" is not a field here. Did you mean "nextStepId"?'],
    [{ next: "b" }, 'unknown_field: "next" is not a field here. Did you mean "nextStepId"?'],
    [{ tool: "x" }, 'unknown_field: "tool" is not a field here. Did you mean "toolId"?'],
    [
      { zzz: 1 },
      'unknown_field: "zzz" is not a field here. Known are: id, description, type, toolId, arguments, saveAs, retry, timeoutMs, optional, onError, alternatives, nextStepId.',
    ],
    [{ saveAs: 3 }, "invalid_field: It must be a string, not 3."],
    [
      { saveAs: "a b" },
      `invalid_field: "a b" cannot be used here: a key has letters, digits, '_', '.', ':' and '-', and starts with a letter or a single '_'.`,
    ],
    [{ arguments: [] }, "invalid_field: It must be an object, not a list."],
    [{ timeoutMs: 1.5 }, "invalid_field: It must be a whole number, not 1.5."],
    [{ toolId: undefined }, 'missing_field: "toolId" is required.'],
    [{ type: "tol_call" }, 'unknown_step_type: "tol_call" is not a type of step. Did you mean "tool_call"?'],
    [
      { type: 3 },
      "unknown_step_type: 3 is not a type of step. The types are tool_call, conditional_branch, parallel_branch, loop_over_items, human_in_the_loop, final_response.",
    ],
  ])("%j: %s", (parts, message) => {
    const [code = ""] = message.split(": ");
    expect(messages(plan([call("a", parts)]), code).map((each) => `${code}: ${each}`)).toEqual([message]);
  });

  it.each([
    [{ id: "a b" }, "id"],
    [{ description: 5 }, "description"],
    [{ timeoutMs: -5 }, "timeoutMs"],
    [{ optional: "yes" }, "optional"],
    [{ onError: "stop" }, "onError"],
    [{ saveAs: "a b" }, "saveAs"],
    [{ retry: { maxAttempts: 0 } }, "retry.maxAttempts"],
    [{ alternatives: "demo::any" }, "alternatives"],
    [{ alternatives: ["demo::any", "no id"] }, "alternatives[1]"],
  ])("%j hides nothing else of its step", (parts, field) => {
    const wrong = call("a", { toolId: "demo::greet", arguments: { who: 3 }, ...parts });
    const lines = said(plan([wrong])).filter((line) => line.includes("$.steps"));
    expect(lines.toSorted()).toEqual([
      "error argument_invalid $.steps[0].arguments.who",
      `error invalid_field $.steps[0].${field}`,
    ]);
  });

  it("is checked where a tool is missing, where a loop has no name for its items, and where a question has no text", () => {
    const nowhere = { jsonPath: "$.contxt.a" };
    expect(said(plan([call("a", { toolId: undefined, arguments: { x: nowhere } })]))).toEqual([
      "error pointer_root $.steps[0].arguments.x",
      "error missing_field $.steps[0].toolId",
    ]);
    const loop = (id: string, loopPlan: object[]): object => ({
      id,
      type: "loop_over_items",
      collectionPath: nowhere,
      loopPlan,
    });
    expect(said(plan([loop("l", [loop("m", [])])]))).toEqual([
      "error pointer_root $.steps[0].collectionPath",
      "error missing_field $.steps[0].itemAlias",
      "error pointer_root $.steps[0].loopPlan[0].collectionPath",
      "error missing_field $.steps[0].loopPlan[0].itemAlias",
      "error invalid_field $.steps[0].loopPlan[0].loopPlan",
    ]);
    const ask = { id: "h", type: "human_in_the_loop", inputSchema: { type: "txt" } };
    expect(said(plan([ask]))).toEqual([
      "error schema_invalid $.steps[0].inputSchema.type",
      "error missing_field $.steps[0].message",
    ]);
  });

  it("of a step that cannot be read hides no problem of another, whatever its data are", () => {
    const read = call("a", { arguments: { x: { jsonPath: "$.context.k" } }, nextStepId: "b" });
    const broken = (parts: object): unknown =>
      plan([read, call("b", { saveAs: "k", nextStepId: "c" }), call("c", parts), call("d")]);
    expect(said(broken({ arguments: ["a"], description: "a", retry: { note: "a" }, nextStepId: "d" }))).toEqual([
      "error pointer_unreachable $.steps[0].arguments.x",
      "error invalid_field $.steps[2].arguments",
      "error missing_field $.steps[2].retry.maxAttempts",
      "error unknown_field $.steps[2].retry.note",
    ]);
  });

  it.each([
    { nextStepId: ["b"] },
    { nextStepId: { id: "b" } },
    { type: "conditional_branch", onTrue: "b" },
    { next: "b" },
  ])("of a step that leads on in a wrong way does not make the next one look forgotten: %j", (parts) => {
    const lines = said(plan([{ id: "a", type: "tool_call", arguments: [], ...parts }, call("b")]));
    expect(lines.filter((line) => line.includes("unreachable_step"))).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
  });

  it("says what a message or a schema can be", () => {
    expect(messages(plan([{ id: "a", type: "final_response", message: 3 }]), "invalid_field")).toEqual([
      'It must be a text, or a pointer like {"jsonPath": "$.context.x"}.',
    ]);
    expect(
      said(plan([{ id: "a", type: "final_response", message: { jsonPath: "$.context.a", frist: true } }])),
    ).toEqual(["error unknown_field $.steps[0].message.frist"]);
    expect(messages(plan([call("a")], { parameters: [] }), "invalid_field")).toEqual([
      "A JSON Schema is an object, true or false.",
    ]);
  });

  it("is nothing but an object with steps", () => {
    for (const junk of [undefined, null, 3, "x", [], true]) expect(said(junk)).toHaveLength(1);
    expect(said({})).toEqual([
      "error missing_field $.planId",
      "error missing_field $.startStepId",
      "error missing_field $.steps",
    ]);
    expect(said({ planId: "a", startStepId: "a", steps: [] })).toEqual([
      "error start_step_unknown $.startStepId",
      "error invalid_field $.steps",
    ]);
  });

  it("is JSON", () => {
    expect(said(plan([call("a", { arguments: { x: [1, () => 1] } })]))).toEqual([
      "error not_json $.steps[0].arguments.x[1]",
    ]);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(said(plan([call("a", { arguments: circle })]))).toEqual(["error not_json $.steps[0].arguments.self"]);
    const angry = {
      get planId(): string {
        throw new Error("no");
      },
    };
    expect(said(angry)).toEqual([
      "error not_json $.planId",
      "error missing_field $.startStepId",
      "error missing_field $.steps",
    ]);
    const revoked = Proxy.revocable({}, {});
    revoked.revoke();
    expect(said(revoked.proxy)).toEqual(["error not_json $"]);
  });

  it("is checked around the places that are not JSON, and nothing else is said of these", () => {
    const greet = (parts: object): object => call("a", { toolId: "demo::greet", ...parts });
    const wrong = greet({
      arguments: { who: Number.POSITIVE_INFINITY, times: Number.NaN, tims: 1, mood: { a: 1n } },
      timeoutMs: Number.NaN,
      nextStepId: "end",
    });
    const end = { id: "end", type: "final_response", message: Symbol("x") };
    expect(said(plan([wrong, end], { planId: 5, parameters: { properties: { x: { minimum: Number.NaN } } } }))).toEqual(
      [
        "error not_json $.parameters.properties.x.minimum",
        "error invalid_field $.planId",
        "error not_json $.steps[0].arguments.mood.a",
        "error not_json $.steps[0].arguments.times",
        "error unknown_argument $.steps[0].arguments.tims",
        "error not_json $.steps[0].arguments.who",
        "error not_json $.steps[0].timeoutMs",
        "error not_json $.steps[1].message",
      ],
    );
    expect(said(plan([greet({ arguments: Number.NaN }), end]))).toEqual([
      "error not_json $.steps[0].arguments",
      "error unreachable_step $.steps[1]",
      "error not_json $.steps[1].message",
    ]);
  });

  it("is named wrong in sentences", () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(messages(plan([call("a", { arguments: { circle, x: Number.NaN } })]), "not_json")).toEqual([
      "A plan is JSON; this holds a value that contains itself.",
      "A plan is JSON; this holds a number that JSON cannot hold.",
    ]);
  });
});

describe("bounds", () => {
  it(`takes ${String(MAX_PLAN_STEPS)} steps and refuses one more`, () => {
    const steps = Array.from({ length: MAX_PLAN_STEPS - 1 }, (_, at) =>
      call(`s${String(at)}`, { nextStepId: `s${String(at + 1)}` }),
    );
    const last = String(MAX_PLAN_STEPS - 1);
    const nested = { id: `s${last}`, type: "parallel_branch", branches: [{ steps: [call("inner")] }] };
    expect(said(plan([...steps, call(`s${last}`)]))).toEqual([]);
    expect(said(plan([...steps, nested]))).toEqual(["error too_many_steps $.steps"]);
  }, 30_000);

  it(`takes lists ${String(MAX_PLAN_NESTING)} levels deep and refuses one more`, () => {
    const nested = (levels: number): unknown[] =>
      levels === 0
        ? [call("leaf")]
        : [{ id: `level${String(levels)}`, type: "parallel_branch", branches: [{ steps: nested(levels - 1) }] }];
    expect(said(plan(nested(MAX_PLAN_NESTING)))).toEqual([]);
    expect(said(plan(nested(MAX_PLAN_NESTING + 1)))).toEqual([
      expect.stringContaining("error nested_too_deep $.steps[0]"),
    ]);
  });

  it(`takes documents ${String(MAX_JSON_DEPTH)} levels deep and refuses one more, however deep`, () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return plan([call("a", { arguments: { deep: value } })]);
    };
    // The plan, its steps, the step and its arguments are levels too.
    expect(said(nested(MAX_JSON_DEPTH - 4))).toEqual([]);
    for (const levels of [MAX_JSON_DEPTH - 3, 200_000]) {
      expect(said(nested(levels))).toEqual([expect.stringContaining("error not_json $.steps[0].arguments.deep")]);
    }
  });

  it("refuses a document that unfolds without end", () => {
    let bomb: unknown = [];
    for (let level = 0; level < 40; level += 1) bomb = [bomb, bomb];
    expect(messages(plan([call("a", { arguments: { bomb } })]), "not_json")).toEqual([
      `A plan is JSON; this holds more than ${String(MAX_JSON_NODES)} values.`,
    ]);
  }, 30_000);

  it(`names ${String(MAX_FAULTS)} places that are not JSON, and says that there are more`, () => {
    const faults = (count: number): string[] =>
      said(plan([call("a", { toolId: "nope", arguments: { x: Array.from({ length: count }, () => Number.NaN) } })]));
    expect(faults(MAX_FAULTS)).toHaveLength(MAX_FAULTS + 1);
    expect(faults(MAX_FAULTS)).toContain("error unknown_tool $.steps[0].toolId");
    const [first, ...others] = faults(MAX_FAULTS + 1);
    expect(first).toBe("error not_json $");
    expect(others).toHaveLength(MAX_FAULTS);
    expect(faults(1_000_000)).toEqual([first, ...others]);
  });

  it(`takes ${String(MAX_BRANCHES)} branches and refuses one more`, () => {
    const branches = (count: number): unknown => {
      const lists = Array.from({ length: count }, (_, at) => ({ steps: [call(`b${String(at)}`)] }));
      return plan([{ id: "p", type: "parallel_branch", branches: lists }]);
    };
    expect(said(branches(MAX_BRANCHES))).toEqual([]);
    expect(said(branches(MAX_BRANCHES + 1))).toEqual(["error too_many_branches $.steps[0].branches"]);
  });
});
