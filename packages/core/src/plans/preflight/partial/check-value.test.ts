import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json, JsonSchema } from "../../../schema/values/json.ts";
import { compileJsonSchema } from "../../../tools/json-schema/compile.ts";
import type { Validated } from "../../../tools/tool.ts";
import type { GapAt } from "./check.ts";
import { createValueChecker, MAX_CHECK_STEPS, type CheckOptions } from "./check-value.ts";
import type { JsonType } from "./json-type.ts";

const GAP = { gap: true };
/** Every object with the field `gap` stands for a value that is not known yet. */
const gapAt: GapAt = (value) =>
  typeof value === "object" && value !== null && "gap" in value ? { types: undefined, name: "It" } : undefined;

function verdictOf(schema: JsonSchema, value: unknown, options: CheckOptions = { gapAt }): string {
  return createValueChecker(schema)(value, options).verdict;
}

function firstIssue(schema: JsonSchema, value: unknown, options: CheckOptions = { gapAt }): unknown {
  const [issue] = createValueChecker(schema)(value, options).issues;
  return issue === undefined ? undefined : [issue.path.join("."), issue.keyword, issue.message];
}

describe("a value with gaps", () => {
  it("is invalid where its known parts are, whatever the gaps become", () => {
    const schema = { properties: { op: { enum: ["eq", "lt"] }, column: { type: "string" } }, required: ["op"] };
    expect(firstIssue(schema, { op: "eqq", column: GAP })).toEqual([
      "op",
      "enum",
      'It must be one of "eq", "lt". Did you mean "eq"?',
    ]);
    expect(verdictOf(schema, { op: "eq", column: GAP })).toBe("unknown");
    expect(verdictOf(schema, { op: "eq", column: "a" })).toBe("valid");
    expect(verdictOf({ type: "array", maxItems: 1 }, [GAP, GAP])).toBe("invalid");
    expect(verdictOf({ type: "array", uniqueItems: true }, [1, GAP, 1])).toBe("invalid");
    expect(verdictOf({ type: "array", uniqueItems: true }, [1, GAP])).toBe("unknown");
  });

  it("is certain inside alternatives that its known parts decide", () => {
    const kinds = [{ properties: { kind: { const: "a" } } }, { properties: { kind: { const: "b" } } }];
    expect(verdictOf({ anyOf: kinds }, { kind: "c", other: GAP })).toBe("invalid");
    expect(verdictOf({ oneOf: [...kinds, { required: ["x"] }] }, { kind: "a", x: GAP })).toBe("invalid");
    const choice = { if: { properties: { kind: { const: "a" } } }, then: { required: ["n"] } };
    expect(firstIssue(choice, { kind: "a", other: GAP })).toEqual(["n", "required", '"n" is required.']);
    expect(verdictOf({ contains: { type: "string" }, maxContains: 1 }, ["a", "b", GAP])).toBe("invalid");
  });

  it("is unknown while an alternative is still open", () => {
    expect(verdictOf({ anyOf: [{ type: "string" }, { properties: { a: { const: 1 } } }] }, { a: GAP })).toBe("unknown");
    expect(verdictOf({ oneOf: [{ required: ["a"] }, { properties: { a: { const: 1 } } }] }, { a: GAP })).toBe(
      "unknown",
    );
    expect(verdictOf({ not: { properties: { a: { const: 1 } } } }, { a: GAP })).toBe("unknown");
    expect(verdictOf({ const: { a: 1 } }, { a: GAP })).toBe("unknown");
    expect(verdictOf({}, GAP)).toBe("valid");
  });

  it("is invalid when the types of a gap cannot fit", () => {
    const listGap: GapAt = () => ({ types: new Set<JsonType>(["array"]), name: "The pointer" });
    expect(firstIssue({ type: ["string", "null"] }, GAP, { gapAt: listGap })).toEqual([
      "",
      "gap",
      "The pointer gives a list; a string or null is needed here.",
    ]);
    expect(verdictOf({ anyOf: [{ type: "string" }, { type: "array" }] }, GAP, { gapAt: listGap })).toBe("unknown");
  });

  it("names a missing field as possible when it may still be added, at the top alone", () => {
    const schema = { required: ["a"], properties: { b: { type: "object", required: ["c"] } } };
    const { verdict, issues } = createValueChecker(schema)({ b: {} }, { mayGrow: true });
    expect(verdict).toBe("invalid");
    expect(issues.map(({ path, certainty }) => [path.join("."), certainty])).toEqual([
      ["a", "possible"],
      ["b.c", "certain"],
    ]);
    expect(verdictOf({ oneOf: [{}, { not: { required: ["x"] } }] }, {}, { mayGrow: true })).toBe("unknown");
  });
});

describe("a message", () => {
  it("speaks of the alternative that was meant", () => {
    const schema = {
      anyOf: [
        { type: "object", properties: { kind: { const: "a" }, n: { type: "number" } }, required: ["kind", "n"] },
        { type: "object", properties: { kind: { const: "b" }, s: { type: "string" } }, required: ["kind", "s"] },
      ],
    };
    expect(firstIssue(schema, { kind: "b", s: 3 })).toEqual(["s", "type", "It must be a string, not 3."]);
    expect(firstIssue(schema, { kind: "c" })).toEqual([
      "",
      "anyOf",
      "It fits none of the 2 forms that are allowed here.",
    ]);
  });

  it("suggests the name that was meant", () => {
    const schema = { additionalProperties: false, properties: { who: true } };
    expect(firstIssue(schema, { woh: 1 })).toEqual([
      "woh",
      "additionalProperties",
      '"woh" is not known here. Did you mean "who"?',
    ]);
  });
});

describe("bounds", () => {
  it("answers unknown at the last step and exhausts after it", () => {
    const check = createValueChecker({ items: { type: "number" } });
    const fits = Array.from({ length: MAX_CHECK_STEPS - 1 }, () => 1);
    expect(check(fits)).toMatchObject({ verdict: "valid", exhausted: false });
    expect(check([...fits, 1])).toMatchObject({ verdict: "unknown", exhausted: true });
  });

  it("ends with schemas that refer to themselves without end, or double with every level", () => {
    expect(verdictOf({ $ref: "#" }, 1)).toBe("unknown");
    const doubling = { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" };
    expect(createValueChecker(doubling)(1)).toMatchObject({ verdict: "unknown", exhausted: true });
  });

  it("never throws, whatever stands in for a schema", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 3 }), (schema, value) => {
        createValueChecker(schema)(value, { gapAt, mayGrow: true });
        createValueChecker(schema)(value, { withDefaults: true });
      }),
    );
    expect(verdictOf({ type: 3, required: 1, properties: [], items: "x", enum: {}, anyOf: [] }, { a: 1 })).toBe(
      "invalid",
    );
  });
});

const scalar = fc.oneof(
  fc.constantFrom<Json[]>(0, 1, 2, 2.5, -1, 10, "", "a", "ab", "abc", "ä😀", null, true, false),
  fc.constantFrom("2020-01-01", "a@b.de", "1.2.3.4"),
);
const names = ["a", "b", "c", "ab"];
const value: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;

const small = fc.nat(3);
const keywords = (sub: fc.Arbitrary<JsonSchema>): Record<string, fc.Arbitrary<Json>> => {
  const type = fc.constantFrom("string", "number", "integer", "boolean", "object", "array", "null");
  const map = fc.dictionary(fc.constantFrom(...names), sub, { maxKeys: 3, noNullPrototype: true });
  const list = fc.array(sub, { minLength: 1, maxLength: 3 });
  const name = fc.constantFrom(...names);
  return {
    type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
    enum: fc.array(value, { minLength: 1, maxLength: 3 }),
    const: value,
    minimum: small,
    maximum: small,
    exclusiveMinimum: small,
    exclusiveMaximum: small,
    multipleOf: fc.constantFrom(1, 2, 0.5, 0.1),
    minLength: small,
    maxLength: small,
    pattern: fc.constantFrom("^a", "b$", "^.{2}$", "[a-b]+"),
    format: fc.constantFrom("date", "email", "ipv4", "int32", "no-such-format"),
    properties: map,
    patternProperties: fc.dictionary(fc.constantFrom("^a", "b$"), sub, { maxKeys: 2, noNullPrototype: true }),
    additionalProperties: sub,
    propertyNames: sub,
    required: fc.uniqueArray(name, { maxLength: 2 }),
    minProperties: small,
    maxProperties: small,
    dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    dependentSchemas: fc.dictionary(name, sub, { maxKeys: 2, noNullPrototype: true }),
    dependencies: fc.dictionary(name, fc.oneof(sub, fc.uniqueArray(name, { maxLength: 2 })), {
      maxKeys: 2,
      noNullPrototype: true,
    }),
    items: sub,
    prefixItems: list,
    additionalItems: sub,
    contains: sub,
    minContains: small,
    maxContains: small,
    minItems: small,
    maxItems: small,
    uniqueItems: fc.boolean(),
    allOf: list,
    anyOf: list,
    oneOf: list,
    not: sub,
    if: sub,
    then: sub,
    else: sub,
    $ref: fc.constantFrom("#/$defs/one", "#/$defs/two"),
    default: value,
  };
};

/** A few keywords at a time: with all of them nothing is ever valid. */
const schema: fc.Arbitrary<JsonSchema> = fc.letrec<{ schema: JsonSchema }>((tie) => {
  const all = keywords(tie("schema"));
  const some = fc.uniqueArray(fc.constantFrom(...Object.keys(all)), { minLength: 1, maxLength: 3 }).chain((chosen) =>
    fc.record(Object.fromEntries(chosen.map((key) => [key, all[key] ?? fc.constant(null)])), {
      noNullPrototype: true,
    }),
  );
  return {
    schema: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(true, {}, { type: "string" }, { type: "number" }, false),
      some,
    ),
  };
}).schema;

const document = fc
  .record({ root: schema, one: schema, two: schema, dialect: fc.constantFrom("draft-07", "2019-09", "2020-12") })
  .map(({ root, one, two, dialect }): JsonSchema => {
    const definitions = { one, two };
    const $schema =
      dialect === "draft-07"
        ? "http://json-schema.org/draft-07/schema#"
        : `https://json-schema.org/draft/${dialect}/schema`;
    return { $schema, ...(typeof root === "boolean" ? { allOf: [root] } : root), $defs: definitions };
  });

/** Answers undefined for schemas that the compiler refuses or that end in themselves. */
async function compiled(schema: JsonSchema): Promise<((value: unknown) => Validated<unknown> | undefined) | undefined> {
  try {
    const validate = await compileJsonSchema(schema);
    return (value) => {
      const answer = validate(value);
      return !answer.ok && answer.issues[0]?.code === "too_complex" ? undefined : answer;
    };
  } catch {
    return undefined;
  }
}

describe("beside the gate's compiler", () => {
  it("V2: gives the same answer for every value without gaps, defaults included", async () => {
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(document, fc.array(value, { minLength: 5, maxLength: 5 }), async (schema, values) => {
        const validate = await compiled(schema);
        if (validate === undefined) return;
        const check = createValueChecker(schema);
        for (const each of values) {
          const expected = validate(each);
          const { verdict, value: completed } = check(each, { withDefaults: true });
          if (expected === undefined || verdict === "unknown") continue;
          decided += 1;
          expect(verdict, JSON.stringify([schema, each])).toBe(expected.ok ? "valid" : "invalid");
          if (expected.ok) expect(completed).toEqual(expected.value);
        }
      }),
      { numRuns: 400 },
    );
    expect(decided).toBeGreaterThan(500);
  });

  it("V1: what is invalid with gaps is invalid however they are filled", async () => {
    const withGaps: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        scalar,
        fc.constant(GAP),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 3, noNullPrototype: true }),
      ),
    })).value;
    let invalid = 0;
    await fc.assert(
      fc.asyncProperty(
        document,
        withGaps,
        fc.array(value, { minLength: 4, maxLength: 4 }),
        async (schema, partial, fillings) => {
          const check = createValueChecker(schema);
          const { verdict } = check(partial, { gapAt });
          if (verdict !== "invalid") return;
          const validate = await compiled(schema);
          if (validate === undefined) return;
          invalid += 1;
          for (const filling of fillings) {
            expect(validate(filled(partial, filling))?.ok, JSON.stringify([schema, partial, filling])).not.toBe(true);
          }
        },
      ),
      { numRuns: 400 },
    );
    expect(invalid).toBeGreaterThan(50);
  });
});

function filled(partial: Json, filling: Json): Json {
  if (Array.isArray(partial)) return partial.map((item: Json) => filled(item, filling));
  if (typeof partial !== "object" || partial === null) return partial;
  if ("gap" in partial) return filling;
  return Object.fromEntries(Object.entries(partial).map(([key, item]) => [key, filled(item, filling)]));
}
