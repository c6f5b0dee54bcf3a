import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonObject, JsonSchema } from "../../schema/values/json.ts";
import { coerceArguments, MAX_COERCIONS } from "./coerce-arguments.ts";

const of = (properties: JsonObject, more: JsonObject = {}): JsonSchema => ({ type: "object", properties, ...more });

describe("coercing arguments to a schema", () => {
  it.each<[string, JsonObject, Json, Json]>([
    ["text to a number", { type: "number" }, " 2.5 ", 2.5],
    ["text to an integer", { type: "integer" }, "5", 5],
    ["text with an exponent to a number", { type: "number" }, "1e3", 1000],
    ["text to true", { type: "boolean" }, "True", true],
    ["text to false", { type: "boolean" }, "false", false],
    ["a number to text", { type: "string" }, 7, "7"],
    ["a boolean to text", { type: "string" }, true, "true"],
    ["one value to a list", { type: "array" }, "a", ["a"]],
    ["one value to a list of numbers", { type: "array", items: { type: "number" } }, "3", [3]],
    ["a list in text to a list", { type: "array", items: { type: "number" } }, '["3", 4]', [3, 4]],
    [
      "an object in text to an object",
      { type: "object", properties: { n: { type: "integer" } } },
      '{"n":"1"}',
      { n: 1 },
    ],
    ["spaces and case of a choice", { enum: ["red", "green"] }, " RED ", "red"],
    ["a choice that is a number", { enum: [1, 2] }, "2", 2],
    ["a constant", { const: "Yes" }, "yes", "Yes"],
    ["the items of a list", { type: "array", items: { type: "integer" } }, ["1", 2, "x"], [1, 2, "x"]],
    ["to the first type that can be had", { type: ["integer", "null"] }, "4", 4],
    ["to one of several schemas", { anyOf: [{ type: "null" }, { type: "integer" }] }, "4", 4],
    ["to all of several schemas", { allOf: [{ type: "integer" }, { minimum: 1 }] }, "4", 4],
  ])("brings %s", (_, schema, given, wanted) => {
    expect(coerceArguments(of({ v: schema }), { v: given })).toEqual({ v: wanted });
  });

  it.each<[string, JsonObject, Json]>([
    ["text that is no number", { type: "number" }, "five"],
    ["a fraction for an integer", { type: "integer" }, "2.5"],
    ["a number too large to be exact", { type: "integer" }, "90071992547409931"],
    ["what would be infinite", { type: "number" }, "1e999"],
    ["text that is no truth value", { type: "boolean" }, "yes"],
    ["an object for text", { type: "string" }, { a: 1 }],
    ["two choices that differ by case alone", { enum: ["a", "A"] }, " a"],
    ["a value of one of the types", { type: ["string", "number"] }, "5"],
    ["a value of one of the schemas", { anyOf: [{ type: "integer" }, { type: "string" }] }, "5"],
  ])("leaves %s", (_, schema, given) => {
    expect(coerceArguments(of({ v: schema }), { v: given })).toEqual({ v: given });
  });

  it("drops keys that a closed schema does not know, and keeps them where it is open", () => {
    expect(coerceArguments(of({ a: {} }, { additionalProperties: false }), { a: 1, b: 2 })).toEqual({ a: 1 });
    expect(coerceArguments(of({ a: {} }), { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
    const patterned = of({ a: {} }, { additionalProperties: false, patternProperties: { "^x": {} } });
    expect(coerceArguments(patterned, { a: 1, b: 2 })).toEqual({ a: 1, b: 2 });
  });

  it("fills in defaults, and leaves out null where only absence is allowed", () => {
    const schema = of(
      { a: { type: "integer", default: 3 }, b: { type: "string" }, c: { type: "string" } },
      { required: ["c"] },
    );
    expect(coerceArguments(schema, { a: null, b: null, c: null })).toEqual({ a: 3, c: null });
  });

  it("follows references, also those that go round", () => {
    const schema: JsonSchema = {
      $defs: { node: { type: "object", properties: { n: { type: "integer" }, next: { $ref: "#/$defs/node" } } } },
      $ref: "#/$defs/node",
    };
    expect(coerceArguments(schema, { n: "1", next: { n: "2" } })).toEqual({ n: 1, next: { n: 2 } });
    const round: JsonSchema = { $defs: { a: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    expect(coerceArguments(round, { n: "1" })).toEqual({ n: "1" });
  });

  it("stops at its bound", () => {
    const list = Array.from({ length: MAX_COERCIONS + 10 }, () => "1");
    const { v } = coerceArguments(of({ v: { type: "array", items: { type: "integer" } } }), { v: list }) as {
      v: Json[];
    };
    expect(v[0]).toBe(1);
    expect(v.at(-1)).toBe("1");
  });

  it("never changes what it is given, and comes to rest", () => {
    const schema = of({
      a: { type: "integer" },
      b: { type: "array", items: { type: "string" } },
      c: { type: "boolean" },
    });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.jsonValue()), (given) => {
        const args = given as JsonObject;
        const before = JSON.stringify(args);
        const once = coerceArguments(schema, args);
        expect(JSON.stringify(args)).toBe(before);
        expect(coerceArguments(schema, once)).toEqual(once);
      }),
    );
  });
});
