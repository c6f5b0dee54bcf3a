import { describe, expect, it } from "vitest";
import type { Json } from "../../schema/values/json.ts";
import type { Operator } from "../../schema/plan.ts";
import { compileCondition, evaluateCondition } from "./condition.ts";
import { blobId, createLazyView, jsonRef } from "./lazy-view.fixture.ts";
import { createMemoryView, type MemoryView } from "./memory-view.ts";
import { resolveWith } from "./resolve.ts";

const memory: MemoryView = {
  context: {
    n: 5,
    text: "hello",
    none: null,
    list: [1, { a: [2] }, "x"],
    object: { key: null },
    data: jsonRef("data"),
  },
  blobs: new Map<string, unknown>([[blobId("data"), { rows: [1, 2] }]]),
};
const view = createMemoryView(memory);
const at = (path: string): Json => ({ jsonPath: `$.context.${path}` });
const nowhere = at("nowhere");

describe("a condition", () => {
  it.each<[Json, Operator, Json, boolean]>([
    [at("n"), "equals", 5, true],
    [5, "equals", 5.0, true],
    ["5", "equals", 5, false],
    [{ a: 1, b: [2] }, "equals", { b: [2], a: 1 }, true],
    [[1, 2], "equals", [2, 1], false],
    [{ a: 1 }, "equals", { a: 1, b: 2 }, false],
    [[], "equals", {}, false],
    [null, "equals", at("none"), true],
    [null, "equals", nowhere, false],
    [nowhere, "equals", nowhere, false],
    [at("list[?@=='y']"), "equals", [], true],
    [at("n"), "not_equals", 6, true],
    [at("n"), "not_equals", 5, false],
    [nowhere, "not_equals", 5, true],
    [nowhere, "not_equals", nowhere, true],

    [at("n"), "greater_than", 4, true],
    [at("n"), "greater_than", 5, false],
    [at("n"), "less_than", 6, true],
    [at("n"), "less_than", 5, false],
    [at("n"), "greater_or_equal", 5, true],
    [at("n"), "greater_or_equal", 6, false],
    [at("n"), "less_or_equal", 5, true],
    [at("n"), "less_or_equal", 4, false],
    ["2026-02-01", "greater_than", "2026-01-31T23:59:59Z", true],
    ["a", "less_or_equal", "a", true],
    [nowhere, "less_than", 5, false],
    [5, "greater_or_equal", nowhere, false],

    [at("list"), "contains", { a: [2] }, true],
    [at("list"), "contains", 2, false],
    [at("text"), "contains", "ell", true],
    [at("text"), "contains", "ELL", false],
    [at("object"), "contains", "key", true],
    [at("object"), "contains", "toString", false],
    [nowhere, "contains", 1, false],
    [at("list"), "contains", nowhere, false],
    ["x", "in", at("list"), true],
    ["y", "in", ["a", "b"], false],
    ["ell", "in", at("text"), true],
    ["key", "in", at("object"), true],
    [nowhere, "in", [1], false],

    [at("text"), "matches", "l+", true],
    [at("text"), "matches", "^l+", false],
    [nowhere, "matches", ".*", false],
    [at("text"), "matches", nowhere, false],

    [5, "contains", 5, false],
    ["text", "contains", 1, false],
    [{ a: 1 }, "contains", 1, false],
    [1, "in", 1, false],
    [5, "matches", "5", false],
    ["5", "matches", 5, false],
  ])("%j %s %j is %s", (left, operator, right, expected) => {
    expect(evaluate(left, operator, right)).toEqual({ kind: "value", value: expected });
  });

  it.each<[string, boolean]>([
    ["n", true],
    ["none", true],
    ["nowhere", false],
    ["list[?@=='x']", true],
    ["list[?@=='y']", false],
  ])("%s exists: %s", (path, expected) => {
    expect(evaluate(at(path), "exists")).toEqual({ kind: "value", value: expected });
    expect(evaluate(at(path), "not_exists")).toEqual({ kind: "value", value: !expected });
  });

  it("asks `exists` about the pointer, not about its default", () => {
    const withDefault: Json = { jsonPath: "$.context.nowhere", default: 1 };
    expect(evaluate(withDefault, "exists")).toMatchObject({ value: false });
    expect(evaluate(withDefault, "equals", 1)).toMatchObject({ value: true });
  });

  it.each<[Json, Operator, Json]>([
    [5, "greater_than", "4"],
    [null, "less_than", 1],
    [true, "less_or_equal", true],
    [[1], "greater_or_equal", [1]],
  ])("refuses to ask whether %j %s %j", (left, operator, right) => {
    const details: unknown = expect.objectContaining({ operator });
    expect(() => evaluate(left, operator, right)).toThrow(expect.objectContaining({ code: "condition_type", details }));
  });

  it("is refused when it is compiled if it cannot make sense", () => {
    const compile = (left: Json, operator: Operator, right?: Json) => () =>
      compileCondition(right === undefined ? { left, operator } : { left, operator, right });
    expect(compile("$.context.n", "exists")).toThrow(expect.objectContaining({ code: "condition_type" }));
    expect(compile(at("n"), "equals")).toThrow(expect.objectContaining({ code: "plan_invalid" }));
    expect(compile(at("text"), "matches", "(")).toThrow(expect.objectContaining({ code: "pattern_invalid" }));
    expect(compile({ jsonPath: "$.x" }, "equals", 1)).toThrow(expect.objectContaining({ code: "pointer_invalid" }));
  });

  it("refuses a pattern from the data that is none", () => {
    expect(() => evaluate("a", "matches", at("text[0]"))).not.toThrow();
    const broken = createMemoryView({ context: { pattern: "(" } });
    const condition = compileCondition({ left: "a", operator: "matches", right: at("pattern") });
    expect(() => evaluateCondition(condition, broken)).toThrow(expect.objectContaining({ code: "pattern_invalid" }));
  });

  it("loads what it compares, and nothing for `exists`", async () => {
    const lazy = createLazyView(memory);
    const exists = compileCondition({ left: at("data"), operator: "exists" });
    expect(evaluateCondition(exists, lazy.view)).toEqual({ kind: "value", value: true });
    const equals = compileCondition({ left: at("data"), operator: "equals", right: { rows: [1, 2] } });
    expect(evaluateCondition(equals, lazy.view)).toMatchObject({ kind: "needs" });
    const answer = await resolveWith(() => evaluateCondition(equals, lazy.view), lazy.load);
    expect(answer).toEqual({ kind: "value", value: true });
  });

  it("fills pointers inside its sides", () => {
    expect(evaluate({ n: at("n") }, "equals", { n: 5 })).toMatchObject({ value: true });
    expect(() => evaluate({ n: nowhere }, "equals", 1)).toThrow(
      expect.objectContaining({ code: "pointer_unresolved" }),
    );
  });
});

function evaluate(left: Json, operator: Operator, right?: Json) {
  return evaluateCondition(
    compileCondition(right === undefined ? { left, operator } : { left, operator, right }),
    view,
  );
}
