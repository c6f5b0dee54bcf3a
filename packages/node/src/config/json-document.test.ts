import fc from "fast-check";
import { expect, it } from "vitest";
import { parseJsonDocument } from "./json-document.ts";

it.each([
  ['{"a":1,}', 1, 8],
  ['{"a" 1}', 1, 6],
  ['{"a":xyz}', 1, 6],
  ["[1,\n 2", 2, 3],
  ['"abc', 1, 1],
  ["", 1, 1],
  ["[1] 2", 1, 5],
  ['{\n  "a": "b\n"}', 2, 8],
  ["[01]", 1, 3],
  ["{'a': 1}", 1, 2],
])("says where %j goes wrong", (source, line, column) => {
  expect(parseJsonDocument(source)).toMatchObject({ ok: false, line, column });
});

it("finds a place whenever JSON.parse refuses, and reads what it reads", () => {
  const noise = fc.string({ unit: fc.constantFrom(...'[]{}",:01.eE+-tfnua \\\n'.split("")), maxLength: 12 });
  fc.assert(
    fc.property(fc.oneof(noise, fc.json({ maxDepth: 2 })), (source) => {
      const document = parseJsonDocument(source);
      expect(document.ok).toBe(accepts(source));
      expect(document.ok ? "unexpected" : document.message).toMatch(/^(unexpected|it ends too early)/);
    }),
    { numRuns: 1_000 },
  );
});

it("finds the end of a long string that is not closed", () => {
  expect(parseJsonDocument(`{"a": "${"x\\n".repeat(1_000_000)}`)).toMatchObject({ ok: false, line: 1, column: 7 });
});

it("skips a byte order mark", () => {
  expect(parseJsonDocument("\uFEFF{}")).toEqual({ ok: true, value: {} });
});

function accepts(source: string): boolean {
  try {
    JSON.parse(source);
    return true;
  } catch {
    return false;
  }
}
