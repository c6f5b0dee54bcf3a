import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createToolRun } from "@ergon/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scanRoots } from "./data/scan-roots.ts";
import { implementation as correlate } from "./find_correlations/find_correlations.tool.ts";
import { dataFolder } from "./quick-data.fixture.ts";

let folder: ReturnType<typeof dataFolder>;
beforeAll(() => {
  folder = dataFolder(createToolRun);
});
afterAll(() => folder.remove());

const typesOf = ({ columns }: { columns: readonly { name: string; type: string }[] }) =>
  Object.fromEntries(columns.map(({ name, type }) => [name, type]));

describe("numbers with decimal commas", () => {
  it("are read as numbers, with points between thousands too, and that is said", async () => {
    const rows = Array.from(
      { length: 30 },
      (_, at) => `P${String(at)};${String(at)},5;1.${String(100 + at)},25;v1.${String(at)}`,
    );
    const loaded = await folder.load("semi.csv", `name;preis;umsatz;version\n${rows.join("\n")}\n`);
    expect(typesOf(loaded)).toEqual({ name: "text", preis: "number", umsatz: "number", version: "text" });
    expect(loaded.source.decimalCommas).toEqual(["preis", "umsatz"]);
    const { pairs, matrix } = await correlate({ dataset: loaded }, folder.run);
    expect(pairs[0]).toMatchObject({ x: "preis", y: "umsatz" });
    expect(matrix[0]?.[1]).toBeCloseTo(1, 6);
  });

  it("beside numbers with decimal points leave those as they are", async () => {
    const loaded = await folder.load("mixed.csv", "a;b\n1,5;1.5\n2,25;2.25\n");
    const { columns, source } = loaded;
    expect(columns.map(({ type }) => type)).toEqual(["number", "number"]);
    expect(source.decimalCommas).toEqual(["a"]);
    const { matrix } = await correlate({ dataset: loaded, minimum: 0 }, folder.run);
    expect(matrix[0]?.[1]).toBeCloseTo(1, 6);
  });

  it.each([
    ["that may as well stand between thousands", 'a,b\n"1,234",1\n"12,500",2\n'],
    ["in a column that has other text, too", "a;b\n1,5;1\nnone;2\n"],
  ])("%s stay text", async (_, content) => {
    const loaded = await folder.load("unsure.csv", content);
    expect(typesOf(loaded)).toMatchObject({ a: "text" });
    expect(loaded.source).not.toHaveProperty("decimalCommas");
  });
});

describe("a file that is not UTF-8", () => {
  it.each([
    ["windows-1252", Buffer.from("stadt,preis\nKöln,1\nZürich,2\n", "latin1")],
    ["utf-16le", Buffer.from("\uFEFFstadt,preis\nKöln,1\nZürich,2\n", "utf16le")],
  ])("is read as %s, and that is said", async (encoding, content) => {
    const loaded = await folder.load("cities.csv", content);
    expect(loaded.source).toMatchObject({ encoding, bytes: content.length });
    expect(typesOf(loaded)).toEqual({ stadt: "text", preis: "integer" });
    expect(loaded.rowCount).toBe(2);
  });

  it("is told from one whose letters lie across the pieces that it is read in", async () => {
    const rows = `${"x".repeat(1024 * 1024 - 4)}ö,1\n`;
    const loaded = await folder.load("across.csv", `a,b\n${rows}`);
    expect(loaded.source).not.toHaveProperty("encoding");
  });
});

describe("a column of whole numbers", () => {
  const years = Array.from({ length: 71 }, (_, at) => `${String(1950 + at)},${String(2500 + at * 80)}`);

  it("that are years is one of numbers, though none comes twice", async () => {
    const loaded = await folder.load("id.csv", `year,population\n${years.join("\n")}\n`);
    expect(loaded.columns[0]).toMatchObject({ name: "year", role: "numerical" });
    const { pairs } = await correlate({ dataset: loaded }, folder.run);
    expect(pairs[0]).toMatchObject({ x: "year", y: "population" });
  });

  it("that counts rows is an identifier still, and what is left out is named", async () => {
    const rows = Array.from({ length: 20 }, (_, at) => `${String(at + 1)},${String(at * at)}.5`);
    const loaded = await folder.load("counted.csv", `row,size\n${rows.join("\n")}\n`);
    expect(loaded.columns[0]).toMatchObject({ role: "identifier" });
    const { explanation, advice } = await correlate({ dataset: loaded }, folder.run);
    expect(explanation).toContain('Taken for identifiers and left out: row. Name them in "columns"');
    expect(advice).toContain("quick-data::validate_data_quality");
    expect((await correlate({ dataset: loaded, columns: ["row", "size"] }, folder.run)).pairCount).toBe(1);
  });
});

it("a file that lies in two roots is found once", async () => {
  mkdirSync(join(folder.path, "one"));
  mkdirSync(join(folder.path, "two"));
  folder.write("one/same.csv", "a\n1\n");
  folder.write("two/same.csv", "a\n1\n");
  folder.write("two/other.csv", "a\n2\n");
  const roots = ["one", "two"].map((name) => join(folder.path, name));
  const { files } = await scanRoots({ ...folder.run, dataRoots: roots });
  expect(files.map(({ filePath }) => filePath)).toEqual([
    join(folder.path, "one/same.csv"),
    join(folder.path, "two/other.csv"),
  ]);
});
