import { describe, expect, it } from "vitest";
import { compilePointer } from "./compile.ts";
import suite from "./fixtures/rfc9535-suite.json" with { type: "json" };
import { createMemoryView } from "./memory-view.ts";
import { resolvePointer } from "./resolve.ts";

type Case = { name: string; selector: string; document?: unknown; results?: unknown[]; invalid?: boolean };
const cases = suite as Case[];

describe("the JSONPath compliance suite of RFC 9535, with its documents as the prompt input", () => {
  it.each(cases.filter((test) => test.invalid))("refuses $name", ({ selector }) => {
    expect(() => compilePointer(underPromptInput(selector))).toThrow(
      expect.objectContaining({ code: "pointer_invalid" }),
    );
  });

  it.each(cases.filter((test) => !test.invalid))("answers $name", ({ selector, document, results }) => {
    const pointer = compilePointer(underPromptInput(selector));
    const answer = resolvePointer(pointer, createMemoryView({ promptInput: document }));
    const value = answer.kind === "value" ? answer.value : [];
    expect(results).toContainEqual(pointer.singular && answer.kind === "value" ? [value] : value);
  });
});

/** Moves a query's root, and the roots of the queries inside its filters, to `$.promptInput`. */
function underPromptInput(selector: string): string {
  const parts = selector.match(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^'"]+|['"]/gs) ?? [];
  return parts.map((part) => (/^['"]/.test(part) ? part : part.replaceAll("$", "$.promptInput"))).join("");
}
