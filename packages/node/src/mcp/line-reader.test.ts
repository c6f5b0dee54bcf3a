import { describe, expect, it } from "vitest";
import { createLineReader } from "./line-reader.ts";

function reader(maxBytes = 100) {
  const lines: string[] = [];
  let tooLong = 0;
  const { take, end } = createLineReader({
    maxBytes,
    onLine: (line) => lines.push(line),
    onTooLong: () => (tooLong += 1),
  });
  return { lines, end, take: (text: string | Buffer) => take(Buffer.from(text)), tooLong: () => tooLong };
}

describe("what comes through a pipe", () => {
  it("is cut into lines, wherever the chunks begin and end, letters of several bytes included", () => {
    const text = Buffer.from('{"a":"ä€😀"}\n\n  \r\nb\nlast');
    for (let size = 1; size <= text.length; size += 1) {
      const { lines, take } = reader();
      for (let from = 0; from < text.length; from += size) take(text.subarray(from, from + size));
      expect(lines).toEqual(['{"a":"ä€😀"}', "b"]);
      take("!\n");
      expect(lines.at(-1)).toBe("last!");
    }
  });

  it.each([1, 3, 100])("may have lines just as long as the bound, in chunks of %i", (size) => {
    for (const [length, fits] of [
      [10, true],
      [11, false],
    ] as const) {
      const { lines, take, tooLong } = reader(10);
      const text = Buffer.from(`ok\n${"x".repeat(length)}\nnext\n`);
      for (let from = 0; from < text.length; from += size) take(text.subarray(from, from + size));
      expect(lines).toEqual(fits ? ["ok", "x".repeat(length), "next"] : ["ok"]);
      expect(tooLong()).toBe(fits ? 0 : 1);
    }
  });

  it("is not read on when whoever reads has ended, not even in the same chunk", () => {
    const lines: string[] = [];
    const { take, end } = createLineReader({
      maxBytes: 10,
      onLine: (line) => {
        lines.push(line);
        end();
      },
      onTooLong: () => lines.push("too long"),
    });
    take(Buffer.from(`a\nb\n${"c".repeat(20)}`));
    take(Buffer.from("d\n"));
    expect(lines).toEqual(["a"]);
  });
});
