import { expect, it } from "vitest";
import { inLines, oneLine, printable } from "./printable.ts";

it("shows what would rewrite the screen, and leaves text alone", () => {
  expect(printable("\u001B[2Jfine\u0007 \u202Eevil ok\nnext\tcolumn")).toBe(
    "\\u001b[2Jfine\\u0007 \\u202eevil ok\nnext\tcolumn",
  );
  expect(printable("naïve 能量 🙂")).toBe("naïve 能量 🙂");
});

it("shows what does not show, and leaves what joins emoji and letters", () => {
  expect(printable("del\u200Bete\uFEFF \u2060all\u00AD \u{E0041}\uE000 a\u200Db x\uFE0F")).toBe(
    "del\\u200bete\\ufeff \\u2060all\\u00ad \\u{e0041}\\ue000 a\\u200db x\\ufe0f",
  );
  const joined = "❤️ 👩‍💻 🏳️‍🌈 می‌خواهم क्‍ष";
  expect(printable(joined)).toBe(joined);
});

it("folds text into one line", () => {
  expect(oneLine("  two\n\n lines\t here\u009B ")).toBe("two lines here\\u009b");
});

it("keeps a question in its lines, none of which begins where ours do", () => {
  expect(inLines(" 1. this\n\n2.  that\u001B[2J\nWhich?\n")).toBe("1. this\n  2. that\\u001b[2J\n  Which?");
});
