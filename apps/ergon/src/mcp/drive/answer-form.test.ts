import { describe, expect, it } from "vitest";
import { answerForm } from "./answer-form.ts";

describe("the form for a question", () => {
  it("has the plain fields of an object, without what forms do not know", () => {
    const inputSchema = {
      type: "object",
      properties: {
        pass: { type: "boolean", description: "go on" },
        count: { type: "integer", minimum: 1, maximum: 9, multipleOf: 2 },
        when: { type: "string", format: "date" },
        kind: { type: "string", enum: ["a", "b"], format: "unknown" },
      },
      required: ["pass"],
      additionalProperties: false,
    };
    expect(answerForm({ inputSchema })?.schema).toEqual({
      type: "object",
      properties: {
        pass: { type: "boolean", description: "go on" },
        count: { type: "integer", minimum: 1, maximum: 9 },
        when: { type: "string", format: "date" },
        kind: { type: "string", enum: ["a", "b"] },
      },
      required: ["pass"],
    });
    expect(answerForm({ inputSchema })?.read({ pass: true })).toEqual({ pass: true });
  });

  it("asks for a text where nothing is said of the answer, and for one value where it is plain", () => {
    expect(answerForm({})?.read({ answer: "yes" })).toBe("yes");
    expect(answerForm({ inputSchema: { type: "number" } })?.read({ answer: 7 })).toBe(7);
    expect(answerForm({ inputSchema: { type: "number" } })?.read({})).toBeNull();
  });

  it.each([
    ["a list", { type: "array", items: { type: "string" } }],
    ["an object in an object", { type: "object", properties: { a: { type: "object" } } }],
    ["an object without fields", { type: "object" }],
    ["a field of any type", { type: "object", properties: { a: {} } }],
    ["a choice of numbers", { type: "object", properties: { a: { type: "number", enum: [1] } } }],
    ["anything", true],
  ])("is none for %s", (_, inputSchema) => {
    expect(answerForm({ inputSchema })).toBeUndefined();
  });

  it.each([
    ["password", { type: "string" }],
    ["apiKey", { type: "string" }],
    ["value", { type: "string", title: "Your access token" }],
    ["value", { type: "string", description: "the client secret" }],
    ["value", { type: "string", format: "password" }],
    ["value", { type: "string", writeOnly: true }],
  ])("is none where the answer may be a secret: %s %j", (name, field) => {
    expect(answerForm({ inputSchema: { type: "object", properties: { [name]: field } } })).toBeUndefined();
  });
});
