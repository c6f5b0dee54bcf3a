import { appendFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRun } from "@ergon/core/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { implementation as analyze } from "./analyze_distributions/analyze_distributions.tool.ts";
import { implementation as chart } from "./create_chart/create_chart.tool.ts";
import type { Dataset } from "./data/dataset.ts";
import { MAX_COLUMN_NAME, MAX_COLUMNS } from "./data/store-dataset.ts";
import { implementation as describeData } from "./describe_dataset/describe_dataset.tool.ts";
import { implementation as detect } from "./detect_outliers/detect_outliers.tool.ts";
import { implementation as correlate } from "./find_correlations/find_correlations.tool.ts";
import { implementation as list } from "./list_datasets/list_datasets.tool.ts";
import { implementation as load } from "./load_dataset/load_dataset.tool.ts";
import { dataFolder } from "./quick-data.fixture.ts";
import { implementation as segment } from "./segment_by_column/segment_by_column.tool.ts";
import { implementation as validate } from "./validate_data_quality/validate_data_quality.tool.ts";
import { MAX_CORRELATED } from "./stats/correlate.ts";

let folder: ReturnType<typeof dataFolder>;
beforeAll(() => {
  folder = dataFolder(createToolRun);
});
afterAll(() => folder.remove());

const quoted = (cells: readonly string[]): string => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");

/** Every tool that looks at rows, one after the other. */
async function lookAtAll(dataset: Dataset): Promise<void> {
  await describeData({ dataset }, folder.run);
  await analyze({ dataset }, folder.run);
  await detect({ dataset }, folder.run);
  await correlate({ dataset }, folder.run);
  await validate({ dataset }, folder.run);
}

/** Many calls in each, on machines that may be busy. */
vi.setConfig({ testTimeout: 120_000 });

describe("column names and values may hold anything", () => {
  const names = [
    `a"b`,
    `'); DROP TABLE data; --`,
    "line\nbreak",
    "naïve ☃ 名前 🎉",
    "datum['x'] + 1",
    "a.b[0]\\.c",
    "${x} {{y}} $1 %s",
    "<script>alert(1)</script>",
    "__proto__",
    "constructor",
  ];
  const rows = Array.from({ length: 40 }, (_, row) => names.map((_name, at) => String(((row + 1) * (at + 3)) % 17)));
  const content = `${[names, ...rows].map(quoted).join("\n")}\n`;

  it("in names: all tools work on them", async () => {
    const dataset = await folder.load("names.csv", content);
    expect(dataset.columns.map(({ name }) => name)).toEqual(names);
    await lookAtAll(dataset);
    for (const name of names) {
      const pair = { x: names[0] ?? "", y: names[1] ?? "" };
      const found = await segment({ dataset, by: name, pair, limit: 100 }, folder.run);
      expect(found.segments.reduce((sum, { rows: n }) => sum + n, 0)).toBe(40);
    }
  });

  it("in names: charts show them and run nothing of them", async () => {
    const dataset = await folder.load("names.csv", content);
    for (const x of names) {
      const [y = ""] = names;
      const { picture, drawn } = await chart({ dataset, kind: "scatter", x, y, color: x }, folder.run);
      const svg = new TextDecoder().decode(await folder.run.blobs.get(picture.svg));
      expect(drawn).toBe(40);
      expect(svg).not.toContain("<script");
      await chart({ dataset, kind: "histogram", x }, folder.run);
      await chart({ dataset, kind: "bar", x }, folder.run);
      await chart({ dataset, kind: "box", x, y }, folder.run);
    }
    await chart({ dataset, kind: "matrix" }, folder.run);
  });

  it("in values: they come back as they were", async () => {
    const values = names.map((name) => [name, "1"]);
    const dataset = await folder.load(
      "values.csv",
      `${[["what", "n"], ...values, ...values, ...values].map(quoted).join("\n")}\n`,
    );
    const { segments } = await segment({ dataset, by: "what" }, folder.run);
    expect(new Set(segments.map(({ value }) => value))).toEqual(new Set(names));
  });

  it("unknown columns are named, with what was meant", async () => {
    const dataset = await folder.load("shop_orders.csv");
    await expect(segment({ dataset, by: "chanel" }, folder.run)).rejects.toThrow('Did you mean "channel"?');
    await expect(correlate({ dataset, columns: ["region"] }, folder.run)).rejects.toMatchObject({
      code: "column_unfit",
    });
  });
});

describe("odd files", () => {
  const unreadable = { code: "dataset_unreadable" };

  it.each([
    ["of no bytes", "empty.csv", ""],
    ["of no bytes, as json", "empty.json", ""],
    ["that are no json", "broken.json", `[{"a": 1}, {"a": `],
    ["that are no parquet", "broken.parquet", "PAR1 and then nothing"],
    ["of binary rubbish", "rubbish.parquet", "\0\u0001\u0002\u0003"],
  ])("%s are refused by their own name", async (_title, name, content) => {
    const failed = folder.load(name, content);
    await expect(failed).rejects.toMatchObject(unreadable);
    await expect(failed).rejects.not.toThrow("ergon-data-");
  });

  it("with a header only have columns and no rows", async () => {
    const dataset = await folder.load("header.csv", "a,b\n");
    expect(dataset).toMatchObject({ rowCount: 0, columns: [{ name: "a" }, { name: "b" }] });
    await lookAtAll(dataset);
    expect(await validate({ dataset }, folder.run)).toMatchObject({ issues: [{ code: "empty_dataset" }] });
  });

  it("with one row", async () => {
    const dataset = await folder.load("one.csv", "a,b,c\n1,2,x\n");
    expect(dataset).toMatchObject({ rowCount: 1 });
    await lookAtAll(dataset);
    const { pairs, matrix } = await correlate({ dataset, minimum: 0 }, folder.run);
    expect([pairs, matrix]).toEqual([
      [],
      [
        [1, null],
        [null, 1],
      ],
    ]);
  });

  it("with nothing in their columns", async () => {
    const dataset = await folder.load("nulls.json", `${`{"a": null, "b": 1}\n`.repeat(30)}`);
    expect(dataset.columns[0]).toMatchObject({ name: "a", missing: 30 });
    await lookAtAll(dataset);
    const { issues } = await validate({ dataset }, folder.run);
    expect(issues.map(({ code }) => code)).toEqual(
      expect.arrayContaining(["missing_values", "constant_column", "duplicate_rows"]),
    );
  });

  it("with NaN, infinities and numbers whose squares are none: these count as no numbers", async () => {
    const odd = ["nan", "inf", "-inf", "1e308", "-1e308"];
    const numbers = Array.from({ length: 30 }, (_, at) => `${String(at)}.5,${String(at * 2)}`);
    const dataset = await folder.load(
      "odd.csv",
      `x,y\n${[...numbers, ...odd.map((value) => `${value},7`)].join("\n")}\n`,
    );
    expect(dataset.columns[0]).toMatchObject({ type: "number", role: "numerical" });
    await lookAtAll(dataset);
    const { pairs } = await correlate({ dataset, columns: ["x", "y"] }, folder.run);
    expect(pairs).toMatchObject([{ r: expect.closeTo(1, 9), n: 30 }]);
    const { issues } = await validate({ dataset }, folder.run);
    expect(issues).toContainEqual(expect.objectContaining({ code: "not_a_number", count: odd.length }));
    await chart({ dataset, kind: "histogram", x: "x" }, folder.run);
  });

  it("with whole numbers that no double holds", async () => {
    const huge = Array.from({ length: 20 }, (_, at) => `${"9".repeat(18)}${String(at % 10)},${String(at)}`);
    const dataset = await folder.load("huge.csv", `n,m\n${huge.join("\n")}\n${"9".repeat(40)},1\n`);
    await lookAtAll(dataset);
    const safe = await folder.load("int64.csv", "n\n9223372036854775807\n9223372036854775806\n");
    const { firstRows } = await describeData({ dataset: safe }, folder.run);
    expect(firstRows[0]).toEqual({ n: "9223372036854775807" });
  });

  it("whose rows do not fit the first ones are read as what fits all of them", async () => {
    const late = `n,t\n${"1,2\n".repeat(30_000)}x,y\n`;
    const dataset = await folder.load("late.csv", late);
    expect(dataset).toMatchObject({ rowCount: 30_001, columns: [{ type: "text" }, { type: "text" }] });
  });

  it("with nested values keep them as text", async () => {
    const dataset = await folder.load(
      "nested.json",
      `[{"a": {"b": [1, 2]}, "c": [{"d": 1}]}, {"a": {"b": []}, "c": null}]`,
    );
    const { firstRows } = await describeData({ dataset }, folder.run);
    expect(firstRows[0]).toEqual({ a: `{"b":[1,2]}`, c: `[{"d":1}]` });
  });

  it(`with ${String(MAX_COLUMNS)} columns are read, with one more refused`, async () => {
    const wide = (count: number): string => {
      const row = Array.from({ length: count }, (_, at) => String(at));
      return `${row.map((at) => `c${at}`).join(",")}\n${row.join(",")}\n${row.join(",")}\n`;
    };
    const dataset = await folder.load("wide.csv", wide(MAX_COLUMNS));
    expect(dataset.columns).toHaveLength(MAX_COLUMNS);
    const { columns, leftOut } = await correlate({ dataset }, folder.run);
    expect([columns.length, leftOut.length]).toEqual([MAX_CORRELATED, MAX_COLUMNS - MAX_CORRELATED]);
    for (const count of [MAX_COLUMNS + 1, 10_000]) {
      await expect(folder.load("wider.csv", wide(count))).rejects.toMatchObject({ code: "dataset_too_wide" });
    }
  });

  it("with an endless column name are refused", async () => {
    const named = (length: number): string => `${"n".repeat(length)},b\n1,2\n`;
    expect((await folder.load("long.csv", named(MAX_COLUMN_NAME))).columns).toHaveLength(2);
    await expect(folder.load("longer.csv", named(MAX_COLUMN_NAME + 1))).rejects.toMatchObject({
      code: "dataset_too_wide",
    });
  });
});

describe("a dataset in its session", () => {
  it("is found by its name, wherever a step saved it, lists and large descriptions included", async () => {
    const orders = await folder.load("shop_orders.csv");
    const wide = { ...orders, datasetName: "wide" };
    const blob = await folder.run.blobs.put(new TextEncoder().encode(JSON.stringify(wide)), "application/json");
    const context = { saved: [{ ...orders, datasetName: "listed" }, null], other: 5, large: blob, orders };
    const run = { ...folder.run, context };
    const { datasets } = await list({}, run);
    expect(datasets.map(({ datasetName }) => datasetName).toSorted()).toEqual(["listed", "shop_orders", "wide"]);
    for (const dataset of ["listed", "shop_orders", "wide"]) {
      expect(await correlate({ dataset }, run)).toMatchObject({ pairCount: 15 });
    }
    await expect(correlate({ dataset: "shop_ordrs" }, run)).rejects.toThrow('Did you mean "shop_orders"?');
    await expect(correlate({ dataset: "shop_orders" }, folder.run)).rejects.toMatchObject({
      code: "dataset_not_found",
    });
  });

  it("of two with one name, the one that was loaded last is meant", async () => {
    const first = await folder.load("twice.csv", "a\n1\n2\n");
    const second = await folder.load("twice.csv", "a\n1\n2\n3\n");
    const run = { ...folder.run, context: { "quick-data::load_dataset_result": second, saved: first } };
    expect(await describeData({ dataset: "twice" }, run)).toMatchObject({ rowCount: 3 });
  });

  it("stays what it was when its file changes, and says so", async () => {
    const dataset = await folder.load("grows.csv", "a\n1\n2\n");
    const state = async () => (await list({}, { ...folder.run, context: { dataset } })).datasets[0]?.sourceState;
    expect(await state()).toBe("unchanged");
    const file = join(folder.path, "grows.csv");
    utimesSync(file, new Date(0), new Date(0));
    expect(await state()).toBe("unchanged");
    writeFileSync(file, "a\n1\n3\n");
    expect(await state()).toBe("changed");
    appendFileSync(file, "4\n");
    expect(await state()).toBe("changed");
    expect(await describeData({ dataset }, folder.run)).toMatchObject({ rowCount: 2, sourceState: "changed" });
    const elsewhere = { ...folder.run, dataRoots: [], context: { dataset } };
    expect((await list({}, elsewhere)).datasets[0]?.sourceState).toBe("gone");
  });

  it("cannot be made of a blob that is not the caller's", async () => {
    const dataset = await folder.load("shop_orders.csv");
    const forged = { ...dataset, data: { ...dataset.data, $blob: "0".repeat(64) } };
    await expect(correlate({ dataset: forged }, folder.run)).rejects.toMatchObject({ code: "blob_not_found" });
  });

  it("with false roles is taken by what its data is", async () => {
    const dataset = await folder.load("shop_orders.csv");
    const columns = dataset.columns.map((column) => ({ ...column, role: "numerical" as const }));
    const found = await correlate({ dataset: { ...dataset, columns } }, folder.run);
    expect(found.columns).not.toContain("region");
  });
});

it("nothing is left behind in the temporary folder, not even by calls that failed or were given up", async () => {
  const controller = new AbortController();
  controller.abort(new Error("enough"));
  await expect(load({ filePath: "shop_orders.csv" }, { ...folder.run, signal: controller.signal })).rejects.toThrow(
    "enough",
  );
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith(`ergon-data-${String(process.pid)}-`))).toEqual([]);
});
