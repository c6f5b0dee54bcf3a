import type { JsonObject } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { answerForm, MAX_FIELDS_SHOWN } from "./answer-form.ts";

const ANY = `'"your answer"'   (any JSON)`;
const fields = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${String(n)}`, {}]));

describe("the form of an answer", () => {
  it.each([
    ["nothing is asked for in particular", undefined, ANY],
    [
      "something is required",
      { type: "object", properties: { pass: { type: "boolean" }, why: {} }, required: ["pass"] },
      `'{"pass":true}'   (pass: boolean)`,
    ],
    [
      "everything may be left out",
      { type: "object", properties: { a: { enum: ["x", "y"] }, b: {} } },
      `'{"a":"x","b":"…"}'   (a: "x" | "y", b: any)`,
    ],
    ["it is no object", { type: "integer" }, "'1'   (integer)"],
    ["a name would break out of the quotes", { type: "object", required: ["a'; rm -rf /"] }, ANY],
    [
      "a value would break out of the quotes",
      { type: "object", properties: { a: { type: "string", enum: ["'; rm -rf /"] } } },
      `'{"a":"…"}'   (a: "'; rm -rf /")`,
    ],
    ["there are too many names", { type: "object", properties: fields(MAX_FIELDS_SHOWN + 1) }, ANY],
  ])("when %s", (_, inputSchema, form) => {
    expect(answerForm(inputSchema === undefined ? {} : { inputSchema })).toBe(form);
  });

  it("shows as many names as its bound", () => {
    const form = answerForm({ inputSchema: { type: "object", properties: fields(MAX_FIELDS_SHOWN) } });
    expect(form.match(/…/g)).toHaveLength(MAX_FIELDS_SHOWN);
    expect(() => JSON.parse(/^'(.*)'/.exec(form)?.[1] ?? "") as unknown).not.toThrow();
  });
});
