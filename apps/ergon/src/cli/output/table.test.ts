import { expect, it } from "vitest";
import { table } from "./table.ts";

const rows = [
  ["a", "pure", "short"],
  ["longer", "read", "a description that goes on and on"],
];

it("aligns columns and leaves the last one whole where there is no screen", () => {
  expect(table(rows, { columns: undefined, header: ["ID", "E", "D"] })).toBe(
    ["ID      E     D", "a       pure  short", "longer  read  a description that goes on and on"].join("\n"),
  );
});

it("cuts the last column to the screen, but not to nothing", () => {
  expect(table(rows, { columns: 36 }).split("\n")[1]).toBe("longer  read  a description that go…");
  expect(table(rows, { columns: 1 }).split("\n")[1]).toBe("longer  read  a description that …");
});

it("is nothing for no rows", () => {
  expect(table([], { columns: 80 })).toBe("");
});
