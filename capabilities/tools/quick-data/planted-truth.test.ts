import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createToolRun } from "@ergon/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { implementation as analyze } from "./analyze_distributions/analyze_distributions.tool.ts";
import type { Dataset } from "./data/dataset.ts";
import { implementation as describeData } from "./describe_dataset/describe_dataset.tool.ts";
import { implementation as detect } from "./detect_outliers/detect_outliers.tool.ts";
import { implementation as correlate } from "./find_correlations/find_correlations.tool.ts";
import { deviation, mean, pearson, quantile, ranks } from "./plain-statistics.fixture.ts";
import { dataFolder, SAMPLES } from "./quick-data.fixture.ts";
import { implementation as segment } from "./segment_by_column/segment_by_column.tool.ts";
import { implementation as overTime } from "./time_series_analysis/time_series_analysis.tool.ts";
import { implementation as validate } from "./validate_data_quality/validate_data_quality.tool.ts";

const DIGITS = 9;

let folder: ReturnType<typeof dataFolder>;
let orders: Dataset;
let readings: Dataset;
let survey: Dataset;
beforeAll(async () => {
  folder = dataFolder(createToolRun);
  orders = await folder.load("shop_orders.csv");
  readings = await folder.load("sensor_readings.jsonl");
  survey = await folder.load("customer_survey.csv");
});
afterAll(() => folder.remove());

const NAMES = ["customer_age", "discount_percent", "order_value_eur", "weight_kg", "delivery_days", "satisfaction"];
const text = readFileSync(join(SAMPLES, "shop_orders.csv"), "utf8").trim().split("\n");
const head = text[0]?.split(",") ?? [];
const cells = text.slice(1).map((line) => line.split(","));
const column = (name: string, keep: (row: readonly string[]) => boolean = () => true): (number | null)[] =>
  cells.filter(keep).map((row) => (row[head.indexOf(name)] === "" ? null : Number(row[head.indexOf(name)])));
const present = (name: string): number[] => column(name).filter((value) => value !== null);

describe("columns get the roles that a person would give them", () => {
  const roles = ({ columns }: Dataset): Record<string, string> =>
    Object.fromEntries(columns.map(({ name, role }) => [name, role]));

  it("in orders", () => {
    expect(roles(orders)).toEqual({
      order_id: "identifier",
      ordered_at: "temporal",
      region: "categorical",
      channel: "categorical",
      ...Object.fromEntries(NAMES.map((name) => [name, "numerical"])),
      returned: "categorical",
    });
    expect(orders).toMatchObject({ datasetName: "shop_orders", rowCount: cells.length });
  });

  it("in readings and answers", () => {
    expect(roles(readings)).toMatchObject({ reading_id: "identifier", measured_at: "temporal", sensor: "categorical" });
    expect(roles(survey)).toMatchObject({
      respondent: "identifier",
      plan: "categorical",
      years_as_customer: "numerical",
    });
  });
});

describe("correlations", () => {
  it("are those of an independent computation, for every pair", async () => {
    const { columns, matrix, pairCount } = await correlate({ dataset: orders, minimum: 0, limit: 1_000 }, folder.run);
    expect(columns).toEqual(NAMES);
    expect(pairCount).toBe(15);
    for (const [row, x] of NAMES.entries()) {
      for (const [at, y] of NAMES.entries()) {
        expect(matrix[row]?.[at]).toBeCloseTo(row === at ? 1 : pearson(column(x), column(y)).r, DIGITS);
      }
    }
  });

  it("by ranks too, equal values sharing theirs", async () => {
    const both = column("delivery_days").flatMap((x, at) =>
      x === null ? [] : [[x, column("satisfaction")[at] ?? 0] as const],
    );
    const expected = pearson(ranks(both.map(([x]) => x)), ranks(both.map(([, y]) => y)));
    const { pairs } = await correlate(
      { dataset: orders, columns: ["delivery_days", "satisfaction"], method: "spearman" },
      folder.run,
    );
    expect(pairs[0]?.r).toBeCloseTo(expected.r, DIGITS);
    expect(pairs[0]?.n).toBe(expected.n);
  });

  it("show what was planted, strongest first", async () => {
    const { pairs } = await correlate({ dataset: orders }, folder.run);
    expect(pairs.map(({ x, y, strength }) => [x, y, strength])).toEqual([
      ["delivery_days", "satisfaction", "strong"],
      ["discount_percent", "order_value_eur", "strong"],
    ]);
    expect(pairs[0]?.r).toBeLessThan(-0.75);
    const found = await correlate({ dataset: readings }, folder.run);
    expect(found.pairs[0]).toMatchObject({ x: "temperature_c", y: "humidity_percent", strength: "strong" });
  });

  it("keep their digits where numbers are large and close together", async () => {
    const xs = Array.from({ length: 500 }, (_, at) => 1e9 + ((at * 7919) % 503));
    const ys = xs.map((x, at) => (x - 1e9) * 0.5 + ((at * 104_729) % 97));
    const far = await folder.load(
      "far.csv",
      `x,y\n${xs.map((x, at) => `${String(x)}.0,${String(ys[at])}`).join("\n")}\n`,
    );
    const { matrix } = await correlate({ dataset: far, columns: ["x", "y"] }, folder.run);
    expect(matrix[0]?.[1]).toBeCloseTo(pearson(xs, ys).r, DIGITS);
  });

  it("of fewer than two columns of numbers are explained, with what to do instead", async () => {
    const found = await correlate({ dataset: survey }, folder.run);
    expect(found).toMatchObject({ pairCount: 0, pairs: [], explanation: expect.stringContaining("only one column") });
    expect(found.suggestions.join(" ")).toContain("years_as_customer");
  });
});

describe("segments", () => {
  it("turn a correlation round that only the differences between them make", async () => {
    const pair = { x: "discount_percent", y: "order_value_eur" };
    const found = await segment({ dataset: orders, by: "channel", pair }, folder.run);
    expect(found.pair).toMatchObject({ verdict: "reverses", sentence: expect.stringContaining("other way round") });
    expect(found.pair?.pooled).toBeGreaterThan(0.7);
    expect(found.segments.map(({ value }) => value)).toEqual(["web shop", "marketplace", "wholesale"]);
    for (const { value, r, n, measures } of found.segments) {
      const within = (row: readonly string[]): boolean => row[head.indexOf("channel")] === value;
      const expected = pearson(column(pair.x, within), column(pair.y, within));
      expect(r).toBeCloseTo(expected.r, DIGITS);
      expect(n).toBe(expected.n);
      expect(r).toBeLessThan(-0.5);
      const ages = column("customer_age", within).filter((age) => age !== null);
      const measured = measures.find((measure) => measure.column === "customer_age");
      expect(measured?.mean).toBeCloseTo(mean(ages), DIGITS);
      expect(measured?.median).toBeCloseTo(quantile(ages, 0.5), DIGITS);
    }
  });

  it("leave a correlation alone that holds in each", async () => {
    const pair = { x: "delivery_days", y: "satisfaction" };
    expect(await segment({ dataset: orders, by: "region", pair }, folder.run)).toMatchObject({
      pair: { verdict: "holds" },
    });
  });

  it("beyond the limit are counted", async () => {
    const { segments, others } = await segment({ dataset: orders, by: "customer_age", limit: 2 }, folder.run);
    expect(segments).toHaveLength(2);
    const shown = segments.reduce((sum, { rows }) => sum + rows, 0);
    expect(others).toEqual({ segments: new Set(present("customer_age")).size - 2, rows: cells.length - shown });
  });
});

describe("figures of a column", () => {
  it.each(NAMES)("%s are those of an independent computation", async (name) => {
    const { numbers } = await analyze({ dataset: orders, columns: [name], bins: 7 }, folder.run);
    const values = present(name);
    const [found] = numbers;
    expect(found?.count).toBe(values.length);
    expect(found?.mean).toBeCloseTo(mean(values), DIGITS);
    expect(found?.standardDeviation).toBeCloseTo(deviation(values), DIGITS);
    expect(found?.q1).toBeCloseTo(quantile(values, 0.25), DIGITS);
    expect(found?.median).toBeCloseTo(quantile(values, 0.5), DIGITS);
    expect(found?.q3).toBeCloseTo(quantile(values, 0.75), DIGITS);
    expect([found?.min, found?.max]).toEqual([Math.min(...values), Math.max(...values)]);
    expect(found?.histogram).toHaveLength(7);
    expect(found?.histogram.reduce((sum, { count }) => sum + count, 0)).toBe(values.length);
    for (const { from, to, count } of found?.histogram.slice(0, -1) ?? []) {
      expect(count).toBe(values.filter((value) => value >= from && value < to).length);
    }
  });

  it("of categories are their counts", async () => {
    const { categories } = await describeData({ dataset: orders }, folder.run);
    const channel = categories.find((category) => category.column === "channel");
    const counted = cells.filter((row) => row[head.indexOf("channel")] === "wholesale").length;
    expect(channel?.top).toContainEqual({
      value: "wholesale",
      count: counted,
      share: expect.closeTo(counted / cells.length, DIGITS),
    });
  });
});

describe("what was planted is found", () => {
  it.each(["iqr", "zscore"] as const)("six parcels that weigh too much, by %s", async (method) => {
    const { columns } = await detect({ dataset: orders, columns: ["weight_kg"], method }, folder.run);
    const heavy = cells.flatMap((row, at) => (Number(row[head.indexOf("weight_kg")]) > 10 ? [at + 1] : []));
    expect(heavy).toHaveLength(6);
    expect(
      columns[0]?.examples
        .slice(0, 6)
        .map(({ row }) => row)
        .toSorted((a, b) => a - b),
    ).toEqual(heavy);
  });

  it("ten days on which the shop was closed", async () => {
    const found = await overTime({ dataset: orders, period: "day" }, folder.run);
    expect(found.gaps).toEqual([{ after: "2025-05-03T00:00:00", before: "2025-05-14T00:00:00", periods: 10 }]);
    expect(found.points.reduce((sum, { rows }) => sum + rows, 0)).toBe(cells.length);
  });

  it("a kiln that was silent, a mill that shakes more each day, and a rhythm of a day", async () => {
    const lines = readFileSync(join(SAMPLES, "sensor_readings.jsonl"), "utf8").trim().split("\n");
    const rows = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const of = (sensor: string) =>
      folder.load(`${sensor}.json`, JSON.stringify(rows.filter((row) => row["sensor"] === sensor)));
    const kiln = await overTime({ dataset: await of("kiln"), value: "temperature_c", period: "hour" }, folder.run);
    expect(kiln.gaps).toEqual([{ after: "2026-03-09T23:00:00", before: "2026-03-13T00:00:00", periods: 72 }]);
    const mill = await overTime({ dataset: await of("mill"), value: "vibration_mm_s", period: "day" }, folder.run);
    expect(mill.trend?.slopePerPeriod).toBeCloseTo(0.01, 2);
    expect(mill.trend?.rSquared).toBeGreaterThan(0.8);
    const yard = await overTime({ dataset: await of("yard"), value: "temperature_c", period: "hour" }, folder.run);
    expect(yard.season).toMatchObject({ periods: 24, r: expect.closeTo(0.9, 1) });
  });

  it("delivery times that are missing", async () => {
    const { issues, duplicateRows } = await validate({ dataset: orders }, folder.run);
    const missing = column("delivery_days").filter((value) => value === null).length;
    expect(issues).toContainEqual(
      expect.objectContaining({ code: "missing_values", column: "delivery_days", count: missing }),
    );
    expect(duplicateRows).toBe(0);
  });
});
