import { describe, expect, it } from "vitest";
import { showHidden } from "./hidden-text.ts";

describe("showHidden", () => {
  it.each([
    ["zero-width space", "a\u200bb", "a\\u{200b}b"],
    ["right-to-left override", "a\u202eb", "a\\u{202e}b"],
    ["tag characters, which models read and people do not see", "a\u{e0041}b", "a\\u{e0041}b"],
    ["variation selectors", "a\ufe0fb", "a\\u{fe0f}b"],
    ["escape sequences", "\u001b[2Jb", "\\u{1b}[2Jb"],
    ["a soft hyphen", "a\u00adb", "a\\u{ad}b"],
    ["a lone surrogate", "a\ud800b", "a\\u{d800}b"],
    ["a Hangul filler", "a\u3164b", "a\\u{3164}b"],
  ])("writes out %s", (_, text, shown) => {
    expect(showHidden(text)).toBe(shown);
  });

  it("leaves ordinary text in any script, lines and tabs as they are", () => {
    const text = "Reads a file.\n\tÄrzte, 東京, שלום, 👍";
    expect(showHidden(text)).toBe(text);
  });
});
