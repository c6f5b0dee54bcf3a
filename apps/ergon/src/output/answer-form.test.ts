import type { JsonObject } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { answerForm, MAX_FIELDS_SHOWN } from "./answer-form.ts";

const fields = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${String(n)}`, {}]));

describe("the form of an answer", () => {
  it.each([
    ["nothing is asked for in particular", undefined, "'…'"],
    [
      "something is required",
      { type: "object", properties: { pass: {}, why: {} }, required: ["pass"] },
      `'{"pass":…}'`,
    ],
    ["everything may be left out", { type: "object", properties: { a: {}, b: {} } }, `'{"a":…,"b":…}'`],
    ["it is no object", { type: "integer" }, "'…'"],
    ["a name would break out of the quotes", { type: "object", required: ["a'; rm -rf /"] }, "'…'"],
    ["there are too many names", { type: "object", properties: fields(MAX_FIELDS_SHOWN + 1) }, "'…'"],
  ])("when %s", (_, inputSchema, form) => {
    expect(answerForm(inputSchema === undefined ? {} : { inputSchema })).toBe(form);
  });

  it("shows as many names as its bound", () => {
    const form = answerForm({ inputSchema: { type: "object", properties: fields(MAX_FIELDS_SHOWN) } });
    expect(form.match(/…/g)).toHaveLength(MAX_FIELDS_SHOWN);
  });
});
