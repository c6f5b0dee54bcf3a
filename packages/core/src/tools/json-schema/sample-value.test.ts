import { describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "../../schema/values/json.ts";
import { compileJsonSchema } from "./compile.ts";
import { sampleValue } from "./sample-value.ts";

const text = { type: "string" };
const cases: readonly (readonly [string, JsonSchema, Json])[] = [
  ["anything", true, null],
  ["an empty schema", {}, null],
  ["a const", { const: { a: [1] } }, { a: [1] }],
  ["a const null", { const: null }, null],
  ["the first of an enum", { enum: ["b", "a"] }, "b"],
  ["a default", { type: "integer", default: 7 }, 7],
  ["an example", { type: "string", examples: ["Ada", "Bob"] }, "Ada"],
  ["a default that does not fit", { type: "integer", default: "seven", minimum: 3 }, 3],
  ["the first type that is not null", { type: ["null", "boolean"] }, true],
  ["numbers within bounds", { type: "number", exclusiveMinimum: 0, maximum: 0.5 }, 0.25],
  ["multiples", { type: "integer", multipleOf: 5, minimum: 11 }, 15],
  ["what is below", { type: "integer", maximum: -4 }, -4],
  ["a long text", { type: "string", minLength: 6 }, "textxx"],
  ["a short text", { type: "string", maxLength: 2 }, "te"],
  ["a date", { type: "string", format: "date-time" }, "2026-01-01T00:00:00Z"],
  ["a mail address", { type: "string", format: "email" }, "someone@example.org"],
  [
    "every declared field",
    { type: "object", properties: { a: text, b: { type: "null" } }, required: ["a"] },
    { a: "text", b: null },
  ],
  [
    "fields without a declaration",
    { type: "object", required: ["x"], additionalProperties: { type: "integer" } },
    { x: 1 },
  ],
  [
    "enough fields",
    { type: "object", minProperties: 2, additionalProperties: { type: "integer" } },
    { key1: 2, key2: 3 },
  ],
  ["one item", { type: "array", items: text }, ["text"]],
  ["no item where none is allowed", { type: "array", items: text, maxItems: 0 }, []],
  ["different items", { type: "array", items: { type: "integer" }, minItems: 3, uniqueItems: true }, [1, 2, 3]],
  ["a tuple", { type: "array", prefixItems: [text, { type: "integer" }], items: false }, ["text", 1]],
  ["an older tuple", { type: "array", items: [text, { type: "integer" }], additionalItems: false }, ["text", 1]],
  ["what must be in it", { type: "array", contains: { const: "x" }, minItems: 1 }, ["x"]],
  [
    "a reference",
    { $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { n: { type: "integer" } } } } },
    { n: 1 },
  ],
  [
    "all of several",
    {
      allOf: [
        { type: "object", properties: { a: text }, required: ["a"] },
        { properties: { b: text }, required: ["b"] },
      ],
    },
    { b: "text", a: "text" },
  ],
  ["the first that fits", { oneOf: [{ type: "integer" }, text] }, 1],
  ["the second where the first cannot be", { anyOf: [false, text] }, "text"],
  ["a type that is only hinted at", { properties: { a: text } }, { a: "text" }],
];

describe("a sample value", () => {
  it.each(cases)("of %s", async (_name, schema, expected) => {
    const sample = await sampleValue(schema);
    expect(sample).toEqual({ value: expected });
    expect((await compileJsonSchema(schema))(sample?.value)).toMatchObject({ ok: true });
  });

  it("is the same every time", async () => {
    for (const [, schema] of cases) expect(await sampleValue(schema)).toEqual(await sampleValue(schema));
  });

  it.each([
    [false],
    [{ type: "string", pattern: "^[0-9]{3}$" }],
    [{ type: "integer", minimum: 2, maximum: 1 }],
    [{ not: {} }],
  ])("is not made up where none fits: %j", async (schema) => {
    expect(await sampleValue(schema)).toBeUndefined();
  });

  it("of a schema that holds itself comes to an end", async () => {
    const tree = {
      type: "object",
      properties: { left: { $ref: "#" }, right: { $ref: "#" }, items: { type: "array", items: { $ref: "#" } } },
    };
    const sample = await sampleValue(tree);
    expect(sample).toBeDefined();
    expect(JSON.stringify(sample).length).toBeLessThan(1_000_000);
  });
});
