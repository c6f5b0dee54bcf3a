import { describe, expect, it } from "vitest";
import { hideInText, hideInValue } from "./hide-secrets.ts";

const SECRET = 'nab"c\\d/e f';

describe("hiding secrets", () => {
  it.each([
    ["as they are", SECRET],
    ["in JSON", JSON.stringify({ key: SECRET })],
    ["in JSON within JSON", JSON.stringify(JSON.stringify({ key: SECRET }))],
    ["in an address", `https://example.org/?key=${encodeURIComponent(SECRET)}`],
  ])("finds them %s", (_, text) => {
    const hide = hideInText(() => [SECRET]);
    expect(hide(text)).toContain("[hidden]");
    expect(hide(text)).not.toContain("nab");
    expect(JSON.stringify(hideInValue(() => [SECRET])({ deep: [text], [text]: 1 }))).not.toContain("nab");
  });

  it.each([
    ["\n", "as it is"],
    ["\r\n", "with carriage returns"],
    ["\\n", "kept in one line"],
  ])("finds each line of a secret of several lines (%j, %s), but for the shortest", (end) => {
    const lines = ["-----BEGIN KEY-----", "MIIEvQIBADANBg/kqhkiG9w0B+AQE", "Ab12==", "xyz=="];
    const hide = hideInText(() => [lines.join(end)]);
    expect(lines.map((line) => hide(`> ${line}`))).toEqual(["> [hidden]", "> [hidden]", "> [hidden]", "> xyz=="]);
    expect(hideInValue(() => [lines.join(end)])({ lines: lines.slice(0, 2) })).toEqual({
      lines: ["[hidden]", "[hidden]"],
    });
    expect(hide(lines.join(end))).toBe("[hidden]");
  });

  it("leaves a value as it is that holds none", () => {
    const value = { a: ["plain", 1, null, true] };
    expect(hideInValue(() => [SECRET, "short"])(value)).toBe(value);
    expect(hideInValue(() => [])(value)).toBe(value);
  });

  it("is not led astray by what only looks like one in JSON", () => {
    expect(hideInValue(() => ["nabcdef"])({ text: "\nabcdef" })).toEqual({ text: "\nabcdef" });
    expect(hideInValue(() => ["abcdef\\"])({ text: 'abcdef"' })).toEqual({ text: 'abcdef"' });
  });

  it("does not hide what is too short to be told from other words", () => {
    expect(hideInText(() => ["12345"])("12345")).toBe("12345");
    expect(hideInText(() => ["123456"])("123456")).toBe("[hidden]");
  });

  it("hears of secrets that come later, and the longer one first", () => {
    const secrets = ["secret-1"];
    const hide = hideInText(() => secrets);
    expect(hide("secret-1 secret-12")).toBe("[hidden] [hidden]2");
    secrets.push("secret-12");
    expect(hide("secret-1 secret-12")).toBe("[hidden] [hidden]");
  });
});
