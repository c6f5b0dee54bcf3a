import { describe, expect, it } from "vitest";
import type { Json } from "../schema/values/json.ts";
import { MAX_PREVIEW_CHARS, MAX_PREVIEW_DEPTH, MAX_PREVIEW_ENTRIES, previewOf, previewText } from "./preview.ts";

describe("what a person sees of arguments", () => {
  it("is the arguments, with secrets hidden by name, by look and by schema", () => {
    const schema = {
      type: "object",
      properties: { pin: { type: "string", writeOnly: true }, deep: { properties: { word: { format: "password" } } } },
    };
    const args = {
      path: "/tmp/a",
      apiKey: "k-123",
      maxTokens: 5,
      pin: "4711",
      deep: { word: "open sesame", plain: true },
      header: "Bearer abcdefghijkl",
      list: [{ password: "x" }, "https://ada:secret@example.org/"],
    };
    expect(previewOf(args, schema)).toEqual({
      path: "/tmp/a",
      apiKey: "[redacted]",
      maxTokens: 5,
      pin: "[redacted]",
      deep: { word: "[redacted]", plain: true },
      header: "[redacted]",
      list: [{ password: "[redacted]" }, "https://[redacted]@example.org/"],
    });
  });

  it("has hidden characters written out, in names too", () => {
    expect(previewOf({ "na\u200bme": "\u001b[31mred\u202e" }, true)).toEqual({
      "na\\u{200b}me": "\\u{1b}[31mred\\u{202e}",
    });
  });

  it("is cut where it gets too long, and says so", () => {
    expect(previewText("x".repeat(MAX_PREVIEW_CHARS))).toBe("x".repeat(MAX_PREVIEW_CHARS));
    expect(previewText("x".repeat(MAX_PREVIEW_CHARS + 1))).toBe(
      `${"x".repeat(MAX_PREVIEW_CHARS)}… (1 more characters)`,
    );
  });

  it("is cut where it has too many entries, and says how many are left out", () => {
    const items = (count: number): Json[] => Array.from({ length: count }, (_, n) => n);
    expect(previewOf({ list: items(MAX_PREVIEW_ENTRIES - 1) }, true)).toEqual({ list: items(MAX_PREVIEW_ENTRIES - 1) });
    const cut = previewOf({ list: items(MAX_PREVIEW_ENTRIES + 4), more: 1 }, true) as Record<string, Json[]>;
    expect(cut["list"]?.at(-1)).toBe("… (5 more)");
    expect(cut["…"]).toBe("(1 more)");
  });

  it("is cut where it gets too deep", () => {
    const nested = (depth: number): Json => (depth === 0 ? "end" : [nested(depth - 1)]);
    const deep = (depth: number): string => JSON.stringify(previewOf({ a: nested(depth) }, true));
    expect(deep(MAX_PREVIEW_DEPTH - 1)).toContain("end");
    expect(deep(MAX_PREVIEW_DEPTH)).toContain("deeper than shown");
  });
});
