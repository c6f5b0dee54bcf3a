import { specTypeSchemas } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isPlainResult, resultSchema } from "./plain-result.ts";

const full = specTypeSchemas.CallToolResult;
const block = fc.record(
  { type: fc.constantFrom("text", "image"), text: fc.oneof(fc.string(), fc.integer()), data: fc.string() },
  { requiredKeys: ["type"] },
);
const result = fc.record(
  {
    content: fc.oneof(fc.array(block), fc.jsonValue()),
    structuredContent: fc.oneof(fc.object(), fc.jsonValue()),
    isError: fc.oneof(fc.boolean(), fc.string()),
    other: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

describe("a result that is plain", () => {
  it("is one that the protocol's schema takes, too, and takes as it is", () => {
    fc.assert(
      fc.property(fc.oneof(result, fc.jsonValue()), (value) => {
        const said = JSON.parse(JSON.stringify(value)) as unknown;
        expect(resultSchema(full)["~standard"].validate(said)).toEqual(full["~standard"].validate(said));
      }),
      { numRuns: 5_000 },
    );
  });

  it("is not a task that nobody asked for", () => {
    expect(resultSchema(full)["~standard"].validate({ task: { taskId: "1" } })).toMatchObject({ issues: [{}] });
  });

  it.each([
    [{ content: [{ type: "text", text: "x" }] }, true],
    [{ content: [], structuredContent: { a: 1 }, isError: false }, true],
    [{ content: [{ type: "text" }] }, false],
    [{ content: [{ type: "text", text: "x", annotations: { priority: 7 } }] }, false],
    [{ structuredContent: {} }, false],
    [{ content: [], structuredContent: [] }, false],
    [{ content: [], _meta: {} }, false],
  ])("%j: %s", (value, isPlain) => expect(isPlainResult(value)).toBe(isPlain));
});
