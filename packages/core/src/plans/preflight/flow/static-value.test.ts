import { describe, expect, it } from "vitest";
import type { JsonSchema } from "../../../schema/values/json.ts";
import { staticMember, staticTypes, UNKNOWN, type StaticValue } from "./static-value.ts";

const of = (schema: JsonSchema): StaticValue => ({ kind: "schema", part: { root: schema, schema } });

/** The types at a path, "nothing", or "anything". */
function at(schema: JsonSchema, ...hops: (string | number)[]): string {
  let value = of(schema);
  for (const hop of hops) {
    const member = staticMember(value, hop);
    if (member.kind === "nothing") return `nothing (${member.known.join()})`;
    value = member;
  }
  const types = staticTypes(value);
  return types === undefined || types.size === 6 ? "anything" : [...types].sort().join();
}

const person = { type: "object", properties: { name: { type: "string" } }, additionalProperties: false };

describe("what is known of a value before the plan runs", () => {
  it.each<[string, JsonSchema, (string | number)[], string]>([
    ["a field", person, ["name"], "string"],
    ["a field that cannot be", person, ["nam"], "nothing (name)"],
    ["a field of a text", person, ["name", "x"], "nothing ()"],
    ["an item of an object", person, [0], "nothing ()"],
    ["a field of an open object", { type: "object", properties: {} }, ["x"], "anything"],
    ["any other field", { additionalProperties: { type: "number" } }, ["x"], "number"],
    ["a field by pattern", { patternProperties: { "^x": {} }, additionalProperties: false }, ["x"], "anything"],
    ["an item", { items: person }, [3, "name"], "string"],
    ["the last item", { items: { type: "integer" } }, [-1], "number"],
    ["the first of several", { prefixItems: [{ type: "string" }, { type: "null" }] }, [1], "null"],
    ["one after them", { prefixItems: [{ type: "string" }], items: { type: "null" } }, [1], "anything"],
    ["through a reference", { $ref: "#/$defs/p", $defs: { p: person } }, ["name"], "string"],
    ["of one form or null", { anyOf: [person, { type: "null" }] }, ["name"], "string"],
    ["of no form", { oneOf: [person, { type: "null" }] }, ["x"], "nothing (name)"],
    ["of two forms", { anyOf: [person, { additionalProperties: { type: "number" } }] }, ["name"], "anything"],
    ["of all forms", { allOf: [person] }, ["name"], "anything"],
    ["of the form itself, whatever else holds", { ...person, allOf: [{}] }, ["name"], "string"],
    ["several types", { type: ["string", "integer"], nullable: true }, [], "null,number,string"],
    ["given values", { enum: ["a", 1, null] }, [], "null,number,string"],
    ["one given value", { const: [] }, [], "array"],
    ["what all forms allow", { allOf: [{ type: ["string", "null"] }, { type: ["null", "number"] }] }, [], "null"],
    ["a schema of itself", { $ref: "#" }, [], "anything"],
    ["a member of a schema of itself", { $ref: "#" }, ["x"], "anything"],
    ["nothing at all", false, ["x"], "nothing ()"],
    ["anything", true, ["x", 1], "anything"],
  ])("%s: %j at %j is %s", (_, schema, hops, expected) => {
    expect(at(schema, ...hops)).toBe(expected);
  });

  it("follows what a loop leaves behind", () => {
    const turns: StaticValue = { kind: "turns", of: of(person) };
    expect(staticMember(turns, "name").kind).toBe("nothing");
    const turn = staticMember(turns, 0) as StaticValue;
    expect([...(staticTypes(turn) ?? [])]).toEqual(["object", "null"]);
    expect(staticTypes(staticMember(turn, "name") as StaticValue)).toEqual(new Set(["string"]));
    expect(staticTypes({ kind: "perhaps-null", of: UNKNOWN })).toBeUndefined();
  });
});
