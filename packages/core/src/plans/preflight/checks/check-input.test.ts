import { describe, expect, it } from "vitest";
import { validatePlan } from "../../validate-plan.ts";
import { checkInput } from "./check-input.ts";
import { call, demoRegistry, messages, plan, said } from "../preflight.fixture.ts";
import { createProblems } from "../problems.ts";

const registry = demoRegistry();
const parameters = {
  type: "object",
  properties: {
    names: { type: "array", items: { type: "string" } },
    greeting: { type: "string", default: "hello" },
    at: { type: "string", format: "date" },
    options: { type: "object", properties: { loud: { type: "boolean", default: false } } },
  },
  required: ["names"],
  additionalProperties: false,
};

describe("the input of a plan", () => {
  it("is checked against its parameters, one problem for each issue", () => {
    const input = { names: ["a", 2, null], greting: "x", at: "yesterday" };
    expect(said(plan([call("a")], { parameters }), { input })).toEqual([
      "error input_invalid $.input.at",
      "error input_invalid $.input.greting",
      "error input_invalid $.input.names[1]",
      "error input_invalid $.input.names[2]",
    ]);
    expect(messages(plan([call("a")], { parameters }), "input_invalid", { input: {} })).toEqual([
      '"names" is required.',
    ]);
  });

  it("gets the defaults, and stays as it was", () => {
    const input = { names: [], options: {} };
    const report = validatePlan(plan([call("a")], { parameters }), { registry, input });
    expect(report).toMatchObject({ ok: true, input: { names: [], greeting: "hello", options: { loud: false } } });
    expect(input).toEqual({ names: [], options: {} });
  });

  it("is checked only when it is given, and is left out of the answer when it does not fit", () => {
    expect(validatePlan(plan([call("a")], { parameters }), { registry })).not.toHaveProperty("input");
    expect(validatePlan(plan([call("a")], { parameters }), { registry, input: {} })).not.toHaveProperty("input");
    expect(validatePlan(plan([call("a")]), { registry, input: { any: 1 } })).toMatchObject({
      ok: true,
      input: { any: 1 },
    });
    expect(said(plan([call("a")]), { input: [] })).toEqual(["error input_invalid $.input"]);
  });

  it("is JSON", () => {
    expect(said(plan([call("a")]), { input: { a: [Number.NaN] } })).toEqual(["error input_invalid $.input.a[0]"]);
    expect(said(plan([call("a")]), { input: { a: Number.NaN, b: [1n] } })).toEqual([
      "error input_invalid $.input.a",
      "error input_invalid $.input.b[0]",
    ]);
  });

  it("is refused when checking it takes more steps than it may", () => {
    const problems = createProblems();
    // One step for the list, one for each item.
    const rules = { parameters: { type: "array", items: { type: "integer" } }, maxSteps: 10 };
    const rows = (count: number): number[] => Array.from({ length: count }, () => 1);
    expect(checkInput(rows(9), rules, problems)).toEqual(rows(9));
    expect(problems.list()).toEqual([]);
    expect(checkInput(rows(10), rules, problems)).toBeUndefined();
    expect(problems.list()).toMatchObject([{ path: "$.input", code: "input_invalid" }]);
  });

  it("may be large", () => {
    const large = { rows: Array.from({ length: 200_000 }, () => 1) };
    const schema = { type: "object", properties: { rows: { type: "array", items: { type: "integer", minimum: 1 } } } };
    expect(said(plan([call("a")], { parameters: schema }), { input: large })).toEqual([]);
  });
});

describe("the plan's schemas", () => {
  it("are JSON Schemas without references to elsewhere", () => {
    const ask = { id: "b", type: "human_in_the_loop", message: "?", inputSchema: { type: "object", required: "yes" } };
    const wrong = plan([call("a", { nextStepId: "b" }), ask], {
      parameters: { type: "object", properties: { x: { type: "strin" }, y: { $ref: "https://example.com/s.json" } } },
    });
    expect(said(wrong, { input: {} })).toEqual([
      "error schema_invalid $.parameters.properties.x.type",
      'error schema_invalid $.parameters.properties.y["$ref"]',
      "error schema_invalid $.steps[1].inputSchema.required",
    ]);
  });

  it("may hold what preflight does not check, with a warning", () => {
    expect(said(plan([call("a")], { parameters: { type: "object", unevaluatedProperties: false } }))).toEqual([
      "warning schema_unchecked $.parameters.unevaluatedProperties",
    ]);
  });
});
