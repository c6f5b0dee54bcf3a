import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isErgonError } from "../../errors/ergon-error.ts";
import type { JsonSchema } from "../../schema/values/json.ts";
import type { Issue, Validated } from "../tool.ts";
import { compileJsonSchema } from "./compile.ts";
import { MAX_FORMAT_LENGTH } from "./load-ajv.ts";
import { createJsonSchemas } from "./json-schemas.ts";

const DRAFT_07 = "http://json-schema.org/draft-07/schema#";

describe("compileJsonSchema", () => {
  it("names every problem, each with its place", async () => {
    const validate = await compileJsonSchema({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
      required: ["city"],
      additionalProperties: false,
    });
    expect(validate({ city: "Oslo", days: 2 })).toEqual({ ok: true, value: { city: "Oslo", days: 2 } });
    expect(byPath(validate({ citty: "Oslo", days: 0 }))).toEqual([
      { path: "/citty", code: "unknown_field", message: '"citty" is not a field here. Did you mean "city"?' },
      { path: "/city", code: "required", message: '"city" is required. (did you mean "city" by "citty"?)' },
      { path: "/days", code: "minimum", message: "It must be >= 1." },
    ]);
  });

  it("fills defaults into a copy and leaves its input alone", async () => {
    const validate = await compileJsonSchema({
      type: "object",
      properties: { limit: { type: "integer", default: 10 } },
    });
    const input = Object.freeze({});
    expect(validate(input)).toEqual({ ok: true, value: { limit: 10 } });
    expect(input).toEqual({});
  });

  it("gives every call its own copy of a default", async () => {
    const validate = await compileJsonSchema({ type: "object", properties: { list: { type: "array", default: [] } } });
    const first = validate({});
    if (first.ok) (first.value as { list: number[] }).list.push(1);
    expect(validate({})).toEqual({ ok: true, value: { list: [] } });
  });

  it("reads draft-07 by its name, and by a list under items where no name is given", async () => {
    const pair = { type: "array", items: [{ type: "string" }, { type: "number" }], additionalItems: false };
    for (const schema of [{ $schema: DRAFT_07, ...pair }, pair] satisfies JsonSchema[]) {
      const validate = await compileJsonSchema(schema);
      expect(validate(["a", 1]).ok).toBe(true);
      expect(validate([1, "a"]).ok).toBe(false);
      expect(validate(["a", 1, 2]).ok).toBe(false);
    }
  });

  it("reads 2019-09 and 2020-12", async () => {
    const old = await compileJsonSchema({
      $schema: "https://json-schema.org/draft/2019-09/schema",
      properties: { a: true },
      unevaluatedProperties: false,
    });
    expect(old({ b: 1 }).ok).toBe(false);
    const current = await compileJsonSchema({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      prefixItems: [{ type: "string" }],
      items: false,
    });
    expect(current(["a", 1]).ok).toBe(false);
  });

  it("follows references inside the document, by pointer, by anchor and by id, and in a circle", async () => {
    const byPointer = await compileJsonSchema({ $ref: "#/definitions/n", definitions: { n: { type: "number" } } });
    expect(byPointer("x").ok).toBe(false);
    const byAnchor = await compileJsonSchema({ $ref: "#n", $defs: { n: { $anchor: "n", type: "number" } } });
    expect(byAnchor("x").ok).toBe(false);
    const byId = await compileJsonSchema({
      $id: "https://example.com/a.json",
      $ref: "https://example.com/a.json#/$defs/n",
      $defs: { n: { type: "number" } },
    });
    expect(byId("x").ok).toBe(false);
    const tree = await compileJsonSchema({
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
      required: ["name"],
    });
    expect(tree({ name: "a", children: [{ name: "b" }] }).ok).toBe(true);
    expect(tree({ name: "a", children: [{}] }).ok).toBe(false);
  });

  it("takes what servers put into their schemas", async () => {
    const ordinary: JsonSchema[] = [
      { type: "object", properties: { q: { type: "string", format: "no-such-format", "x-order": 1 } } },
      { id: "draft-4 style", type: "string" },
      { nullable: true },
      { $id: "urn:odd", type: "string" },
      { type: "object", properties: {}, $async: true },
      { discriminator: { propertyName: "kind" }, oneOf: [{ type: "string" }, { type: "number" }] },
      {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: ["string", "null"],
        examples: ["a"],
        deprecated: true,
      },
      { type: "string", pattern: "^[\\w-]+\\.(?:csv|json)$" },
    ];
    for (const schema of ordinary) expect(typeof (await compileJsonSchema(schema))).toBe("function");
  });

  it("answers in time whatever pattern it was given", async () => {
    const validate = await compileJsonSchema({ type: "string", pattern: "^(a+)+$" });
    const started = performance.now();
    expect(validate(`${"a".repeat(100_000)}!`).ok).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("answers in time whatever text is to have a format", async () => {
    const validate = await compileJsonSchema({ type: "string", format: "url" });
    const started = performance.now();
    expect(validate(`http://${"::".repeat(25_000)}`).ok).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(validate(`http://example.com/${"a".repeat(MAX_FORMAT_LENGTH - 19)}`).ok).toBe(true);
    expect(validate(`http://example.com/${"a".repeat(MAX_FORMAT_LENGTH - 18)}`).ok).toBe(false);
    expect((await compileJsonSchema({ type: "string", format: "byte" }))("QUJD".repeat(10_000)).ok).toBe(true);
  });

  it("keeps the patterns of one schema apart", async () => {
    const validate = await compileJsonSchema({ properties: { a: { pattern: "^x" }, b: { pattern: "^y" } } });
    expect(validate({ a: "x", b: "y" }).ok).toBe(true);
    expect(validate({ a: "x", b: "x" }).ok).toBe(false);
  });

  it("leaves a pattern that it cannot run unchecked only when told so", async () => {
    const schema = { type: "string", pattern: "^(?!x)" };
    await expect(compileJsonSchema(schema)).rejects.toMatchObject({ code: "schema_invalid" });
    const validate = await compileJsonSchema(schema, { unsupportedPatterns: "ignore" });
    expect(validate("x").ok).toBe(true);
    expect(validate(1).ok).toBe(false);
  });

  it("stops a schema that asks for exponential work", async () => {
    const defs: Record<string, JsonSchema> = { last: { type: "null" } };
    for (let i = 0; i < 60; i += 1) {
      const next = { $ref: i === 59 ? "#/$defs/last" : `#/$defs/d${String(i + 1)}` };
      defs[`d${String(i)}`] = { anyOf: [next, { ...next }] };
    }
    const validate = await compileJsonSchema({ $ref: "#/$defs/d0", $defs: defs });
    const started = performance.now();
    expect(validate("x")).toMatchObject({ ok: false, issues: [{ code: "too_complex" }] });
    expect(performance.now() - started).toBeLessThan(20_000);
  }, 30_000);

  it("survives a schema that is nothing but itself", async () => {
    for (const schema of [{ $ref: "#" }, { allOf: [{ $ref: "#" }] }] satisfies JsonSchema[]) {
      expect((await compileJsonSchema(schema))(1)).toMatchObject({ ok: false, issues: [{ code: "too_complex" }] });
    }
  });

  it("finds a double among many items in linear time", async () => {
    const validate = await compileJsonSchema({ type: "array", uniqueItems: true });
    const many: unknown[] = Array.from({ length: 50_000 }, (_, n) => ({ n, text: `t${String(n)}` }));
    const started = performance.now();
    expect(validate(many).ok).toBe(true);
    expect(validate([...many, { text: "t7", n: 7 }]).ok).toBe(false);
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(validate([1, "1", [1], "[1]", null, true]).ok).toBe(true);
  });

  it("reports the first problem of a value that is too large for all of them", async () => {
    const validate = await compileJsonSchema({
      type: "array",
      items: { type: "object", properties: { a: { type: "string" } } },
    });
    const answer = validate(Array.from({ length: 200_000 }, () => ({ a: 1 })));
    expect(answer.ok ? 0 : answer.issues.length).toBe(1);
    expect(validate([{ a: 1 }, { a: 2 }])).toMatchObject({ issues: [{ path: "/0/a" }, { path: "/1/a" }] });
  });

  it("is not led astray by field names that objects have anyway", async () => {
    const validate = await compileJsonSchema({
      type: "object",
      properties: { constructor: { type: "string" }, toString: { type: "number" } },
      required: ["hasOwnProperty"],
    });
    expect(validate({})).toMatchObject({ ok: false, issues: [{ path: "/hasOwnProperty" }] });
    const hostile: unknown = JSON.parse('{"__proto__": {"polluted": 1}, "hasOwnProperty": 1}');
    validate(hostile);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("throws only schema_invalid, whatever the schema", async () => {
    const keyword = fc.constantFrom(
      "type",
      "properties",
      "items",
      "$ref",
      "required",
      "enum",
      "pattern",
      "allOf",
      "not",
      "format",
      "minimum",
      "$id",
      "default",
      "additionalProperties",
      "$defs",
      "multipleOf",
      "if",
      "$dynamicRef",
      "$anchor",
      "dependencies",
      "const",
      "nullable",
      "uniqueItems",
    );
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom("string", "#", "#/properties/a", "object", "^a", ["a"], { a: { type: "string" } }, [
        { type: "number" },
      ]),
    );
    const schema = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(keyword, value),
      fc.dictionary(keyword, fc.dictionary(keyword, value)),
    );
    await fc.assert(
      fc.asyncProperty(schema, fc.jsonValue(), async (candidate, instance) => {
        const outcome = await compileJsonSchema(candidate as JsonSchema).then(
          (validate) => typeof validate(instance).ok,
          (thrown: unknown) => (isErgonError(thrown) ? thrown.code : thrown),
        );
        expect(["boolean", "schema_invalid"]).toContain(outcome);
      }),
      { numRuns: 400 },
    );
  });
});

describe("createJsonSchemas", () => {
  it("compiles equal schemas once and answers at once from then on", async () => {
    const schemas = createJsonSchemas();
    const first = await schemas.compile({ type: "string", minLength: 1 });
    expect(schemas.compile({ minLength: 1, type: "string" })).toBe(first);
  });

  it("keeps no more than its bound, the least recently used one goes first", async () => {
    const schemas = createJsonSchemas(2);
    const one = await schemas.compile({ const: 1 });
    await schemas.compile({ const: 2 });
    expect(schemas.compile({ const: 1 })).toBe(one);
    await schemas.compile({ const: 3 });
    expect(schemas.compile({ const: 1 })).toBe(one);
    expect(schemas.compile({ const: 2 })).toBeInstanceOf(Promise);
  });

  it("remembers nothing of a schema that does not compile", async () => {
    const schemas = createJsonSchemas();
    for (let i = 0; i < 2; i += 1) {
      await expect(schemas.compile({ type: "strng" })).rejects.toMatchObject({ code: "schema_invalid" });
    }
  });
});

function byPath(answer: Validated<unknown>): readonly Issue[] {
  return answer.ok ? [] : answer.issues.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
