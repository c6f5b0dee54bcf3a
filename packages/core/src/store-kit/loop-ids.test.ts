import { expect, it } from "vitest";
import { createLoopIds } from "./loop-ids.ts";

it("gives ids of eight hexadecimal digits that no client reads as a number", () => {
  for (let first = 0; first < 256; first += 1) {
    for (const rest of [0x12, 0xe1, 0xff]) {
      const id = createLoopIds((bytes) => void bytes.fill(rest).fill(first, 0, 1))();
      expect(id).toMatch(/^[0-9a-f]{8}$/);
      // The MCP Inspector parses "--tool-arg loop_id=12345678" as JSON: the loop was not found then.
      expect(() => void JSON.parse(id)).toThrow(SyntaxError);
    }
  }
});

it("gives another id each time", () => {
  const newId = createLoopIds();
  expect(new Set(Array.from({ length: 1_000 }, newId)).size).toBeGreaterThan(990);
});
