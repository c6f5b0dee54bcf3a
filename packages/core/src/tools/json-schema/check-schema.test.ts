import { describe, expect, it } from "vitest";
import { MAX_PATTERN_LENGTH } from "./pattern.ts";
import { MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH, MAX_SCHEMA_ISSUES, schemaIssues } from "./check-schema.ts";

const issues = (schema: unknown) => schemaIssues(schema, { unsupportedPatterns: "refuse" });

describe("schemaIssues", () => {
  it("finds nothing wrong with ordinary schemas", () => {
    const ordinary = [
      true,
      {},
      { type: "object", properties: { a: { type: ["string", "null"], format: "email" } }, required: ["a"] },
      { $schema: "http://json-schema.org/draft-07/schema", definitions: { a: {} }, $ref: "#/definitions/a" },
      { dependencies: { a: ["b"], c: { type: "object" } }, patternProperties: { "^x-": {} }, "x-anything": 1 },
    ];
    for (const schema of ordinary) expect(issues(schema)).toEqual([]);
  });

  it("says what is wrong, where, and what was meant", () => {
    const [typo] = issues({ properties: { a: { type: "strng" } } });
    expect(typo).toMatchObject({ path: "/properties/a/type", code: "type" });
    expect(typo?.message).toContain('Did you mean "string"?');
    expect(
      issues({ required: "a", minLength: -1, enum: [], anyOf: {} })
        .map(({ path }) => path)
        .sort(),
    ).toEqual(["/anyOf", "/enum", "/minLength", "/required"]);
    expect(issues("string")[0]?.message).toContain("an object or a boolean");
    expect(issues({ $schema: "http://json-schema.org/draft-04/schema#" })[0]?.code).toBe("dialect");
    expect(issues({ type: "string", pattern: "(?=a)" })[0]?.message).toContain("look-around");
    expect(issues({ default: () => 1 })[0]?.code).toBe("json");
  });

  it("never looks outside the document", () => {
    for (const reference of [
      "http://example.com/s.json",
      "file:///etc/passwd",
      "other.json#/a",
      "https://json-schema.org/draft-07/schema#",
    ]) {
      expect(issues({ properties: { a: { $ref: reference } } })[0]).toMatchObject({
        path: "/properties/a/$ref",
        code: "remote_reference",
      });
    }
    expect(issues({ $ref: "#/$defs/missing" })[0]?.code).toBe("reference");
    expect(issues({ $ref: "#/%zz" })[0]?.code).toBe("reference");
  });

  it("looks where references lead, also outside of the usual places", () => {
    expect(issues({ $ref: "#/shared/a", shared: { a: { type: "strng" } } })[0]?.path).toBe("/shared/a/type");
  });

  it("has bounds for size, depth and the number of problems", () => {
    const sized = (bytes: number) => ({ description: "x".repeat(bytes - '{"description":""}'.length) });
    expect(issues(sized(MAX_SCHEMA_BYTES))).toEqual([]);
    expect(issues(sized(MAX_SCHEMA_BYTES + 1))[0]?.code).toBe("too_large");
    expect(issues({ pattern: "x".repeat(MAX_PATTERN_LENGTH) })).toEqual([]);
    expect(issues({ pattern: "x".repeat(MAX_PATTERN_LENGTH + 1) })[0]?.code).toBe("pattern");
    const nested = (depth: number): object => (depth === 0 ? {} : { properties: { a: nested(depth - 1) } });
    expect(issues(nested(MAX_SCHEMA_DEPTH))).toEqual([]);
    expect(issues(nested(MAX_SCHEMA_DEPTH + 1))[0]?.code).toBe("too_deep");
    const wrong = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`p${String(n)}`, { type: 1 }]));
    expect(issues({ properties: wrong })).toHaveLength(MAX_SCHEMA_ISSUES);
  });
});
