import type { JsonSchema } from "@ergon/core";
import { expect, it } from "vitest";
import { describeSchema, describeType } from "./describe-schema.ts";

it("names every field with its type, need and description", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: {
      who: { type: "string", description: "Who" },
      limit: { type: "integer", minimum: 1, maximum: 5, default: 3 },
      mode: { enum: ["a", "b"] },
      inner: { type: "object", properties: { deep: { type: "boolean" } }, required: ["deep"] },
      list: { type: "array", items: { type: "object", properties: { x: { type: "number" } } } },
    },
    required: ["who"],
  };
  expect(describeSchema(schema).map(({ name, type, need }) => `${name}: ${type}, ${need}`)).toEqual([
    "who: string, required",
    "limit: integer 1–5, default 3",
    'mode: "a" | "b", optional',
    "inner: object, optional",
    "inner.deep: boolean, required",
    "list: array of object, optional",
    "list[].x: number, optional",
  ]);
});

it.each<[JsonSchema, string]>([
  [true, "any"],
  [{}, "any"],
  [{ type: ["string", "null"] }, "string | null"],
  [{ anyOf: [{ type: "string" }, { type: "number", minimum: 0 }, { type: "string" }] }, "string | number ≥ 0"],
  [{ const: 1 }, "1"],
  [{ enum: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, "1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | …"],
  [{ type: "array" }, "array"],
])("says of %j: %s", (schema, type) => {
  expect(describeType(schema)).toBe(type);
  expect(describeSchema(schema)).toEqual([]);
});

it("does not follow a schema deeper than it shows", () => {
  let schema: JsonSchema = { type: "string" };
  for (let level = 0; level < 5_000; level += 1) schema = { type: "object", properties: { a: schema } };
  expect(describeSchema(schema).map(({ name }) => name)).toEqual(["a", "a.a", "a.a.a"]);
});
