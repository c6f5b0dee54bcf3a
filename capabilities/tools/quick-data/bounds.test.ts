import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createToolRun } from "@ergon/core/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { MAX_ROWS_READ, withDatabase } from "./data/database.ts";
import { MAX_SCAN_DEPTH, MAX_SCANNED_ENTRIES, scanRoots } from "./data/scan-roots.ts";
import { dataFolder } from "./quick-data.fixture.ts";
import { MIN_SEGMENT_ROWS, verdictOf } from "./stats/compare-segments.ts";
import { MAX_POINTS } from "./stats/time-buckets.ts";
import { implementation as overTime } from "./time_series_analysis/time_series_analysis.tool.ts";

let folder: ReturnType<typeof dataFolder>;
beforeAll(() => {
  folder = dataFolder(createToolRun);
});
// Thousands of folders are gone after a while only.
afterAll(() => folder.remove(), 120_000);
const { signal } = new AbortController();

it("an answer of the database has a bounded number of rows", async () => {
  const rows = (count: number) =>
    withDatabase({ folder: folder.path, files: [], signal }, (database) =>
      database.rows(`SELECT * FROM range(${String(count)})`),
    );
  expect(await rows(MAX_ROWS_READ)).toHaveLength(MAX_ROWS_READ);
  await expect(rows(MAX_ROWS_READ + 1)).rejects.toThrow("too many rows");
});

it("a search for files goes so deep, looks at so many entries, and says when it was cut", async () => {
  const scan = (root: string) => scanRoots({ dataRoots: [root], deniedPaths: [], signal });
  const deep = (levels: number): string => join(folder.path, "deep", ...Array.from({ length: levels }, () => "d"));
  mkdirSync(deep(MAX_SCAN_DEPTH), { recursive: true });
  writeFileSync(join(deep(MAX_SCAN_DEPTH), "in.csv"), "a\n");
  const whole = await scan(join(folder.path, "deep"));
  expect([whole.files.length, whole.isCut]).toEqual([1, false]);
  mkdirSync(deep(MAX_SCAN_DEPTH + 1));
  expect((await scan(join(folder.path, "deep"))).isCut).toBe(true);
  const wide = join(folder.path, "wide");
  mkdirSync(wide);
  for (let n = 0; n < MAX_SCANNED_ENTRIES; n += 1) mkdirSync(join(wide, String(n)));
  expect((await scan(wide)).isCut).toBe(false);
  mkdirSync(join(wide, "more"));
  expect((await scan(wide)).isCut).toBe(true);
}, 120_000);

it("a series has a bounded number of points", async () => {
  const days = (count: number): string =>
    Array.from({ length: count }, (_, at) => new Date(at * 86_400_000).toISOString().slice(0, 10)).join("\n");
  const dataset = await folder.load("days.csv", `day\n${days(MAX_POINTS + 1)}\n`);
  expect((await overTime({ dataset, period: "day" }, folder.run)).points).toHaveLength(MAX_POINTS + 1);
  const longer = await folder.load("longer.csv", `day\n${days(MAX_POINTS + 2)}\n`);
  await expect(overTime({ dataset: longer, period: "day" }, folder.run)).rejects.toThrow("Ask for a longer period");
});

it("a group says something about a correlation from so many rows on", () => {
  const groups = (n: number) => ["a", "b"].map((value) => ({ value, r: -0.5, n }));
  expect(verdictOf(0.8, groups(MIN_SEGMENT_ROWS))).toBe("reverses");
  expect(verdictOf(0.8, groups(MIN_SEGMENT_ROWS - 1))).toBe("too_few_rows");
});
