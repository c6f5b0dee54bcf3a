import { createToolRun } from "@ergon/core/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { implementation as chart } from "../create_chart/create_chart.tool.ts";
import { CHART_KINDS } from "../create_chart/chart-arguments.ts";
import { MAX_POINTS_DRAWN } from "../create_chart/spec-for.ts";
import type { Dataset } from "../data/dataset.ts";
import { implementation as correlate } from "../find_correlations/find_correlations.tool.ts";
import { dataFolder } from "../quick-data.fixture.ts";
import { implementation as segment } from "../segment_by_column/segment_by_column.tool.ts";
import { implementation as weigh } from "../weigh_findings/weigh_findings.tool.ts";
import { implementation as writeReport } from "../write_report/write_report.tool.ts";
import { label } from "./look.ts";
import { renderSvg } from "./render-chart.ts";

let folder: ReturnType<typeof dataFolder>;
let orders: Dataset;
beforeAll(async () => {
  folder = dataFolder(createToolRun);
  orders = await folder.load("shop_orders.csv");
});
afterAll(() => folder.remove());

const textOf = async (ref: { readonly $blob: string }): Promise<string> =>
  new TextDecoder().decode(await folder.run.blobs.get(ref));

describe("a chart", () => {
  const columns = {
    scatter: { x: "delivery_days", y: "satisfaction" },
    histogram: { x: "customer_age" },
    bar: { x: "channel", y: "order_value_eur" },
    line: { x: "ordered_at", y: "order_value_eur" },
    box: { x: "channel", y: "order_value_eur" },
    matrix: {},
  };

  it.each(CHART_KINDS)(
    "of kind %s is a picture with its title, and its specification with the data it shows",
    async (kind) => {
      const made = await chart({ dataset: orders, kind, ...columns[kind], title: "A <title> & more" }, folder.run);
      const svg = await textOf(made.picture.svg);
      expect(svg).toMatch(/^<svg [^>]*width="\d+"/);
      expect(svg).toContain("A &lt;title&gt; &amp; more");
      expect(made.picture.svg.mediaType).toBe("image/svg+xml");
      const spec = JSON.parse(await textOf(made.spec)) as { data: { values: unknown[] } };
      expect(spec.data.values.length).toBeGreaterThan(2);
    },
  );

  it("draws a bounded part of many rows, and says so", async () => {
    const rows = Array.from(
      { length: MAX_POINTS_DRAWN * 3 + 1 },
      (_, at) => `${String(at)}.5,${String((at * 7) % 11)}`,
    );
    const many = await folder.load("many.csv", `x,y\n${rows.join("\n")}\n`);
    const { drawn, picture } = await chart({ dataset: many, kind: "scatter", x: "x", y: "y" }, folder.run);
    expect(drawn).toBeLessThanOrEqual(MAX_POINTS_DRAWN);
    expect(drawn).toBeGreaterThan(MAX_POINTS_DRAWN / 2);
    expect(picture.caption).toContain("every 4th row drawn");
  });

  it("says which column it lacks, or cannot use", async () => {
    await expect(chart({ dataset: orders, kind: "scatter", x: "delivery_days" }, folder.run)).rejects.toThrow(
      "column for y",
    );
    await expect(chart({ dataset: orders, kind: "line", x: "channel" }, folder.run)).rejects.toThrow(
      "dates are needed",
    );
  });

  it("loads nothing, whatever its specification says", async () => {
    const spec = { data: { url: "file:///etc/passwd" }, mark: "point", encoding: { x: { field: "a" } } };
    expect(await renderSvg(spec)).not.toContain("root:");
  });

  it.each([
    ["delivery_days", "Delivery (days)"],
    ["order_value_eur", "Order value (€)"],
    ["vibration_mm_s", "Vibration (mm/s)"],
    ["satisfaction", "Satisfaction"],
    ["", ""],
  ])("labels %j as %j", (column, text) => {
    expect(label(column)).toBe(text);
  });
});

describe("a report", () => {
  it("tells what was found, with every picture in it and nothing outside it", async () => {
    const correlations = await correlate({ dataset: orders }, folder.run);
    const segmentations = [];
    for (const { x, y } of correlations.pairs) {
      segmentations.push([
        await segment({ dataset: orders, by: "channel", pair: { x, y } }, folder.run),
        await segment({ dataset: orders, by: "region", pair: { x, y } }, folder.run),
      ]);
    }
    const { findings, question } = await weigh({ pairs: correlations.pairs, segmentations }, folder.run);
    expect(findings).toMatchObject([
      { number: 1, x: "delivery_days", verdict: "holds", colorBy: null },
      { number: 2, x: "discount_percent", verdict: "reverses", by: "channel", colorBy: "channel" },
    ]);
    expect(question).toContain("2. discount_percent and order_value_eur rise together");
    const matrix = (await chart({ dataset: orders, kind: "matrix" }, folder.run)).picture;
    const pictures = [];
    for (const { x, y, colorBy } of findings) {
      pictures.push((await chart({ dataset: orders, kind: "scatter", x, y, color: colorBy }, folder.run)).picture);
    }
    const made = await writeReport({ dataset: orders, correlations, findings, matrix, pictures }, folder.run);
    const html = await textOf(made.report);
    expect(made.report.mediaType).toBe("text/html");
    expect(made.summary).toContain("within every channel they go the other way");
    expect(made.fetchWith).toBe(`ergon blobs get ${made.report.$blob} -o shop_orders-report.html`);
    expect(html.match(/<img src="data:image\/svg\+xml;base64,/g)).toHaveLength(3);
    expect(html).not.toMatch(/(?:src|href)="(?!data:)|url\(|@import/);
    // Who gets it forwarded need not know where the file lay.
    expect(html).toContain("shop_orders.csv: 720 rows");
    expect(html).not.toContain(orders.source.path);
    for (const [image] of html.matchAll(/<img [^>]*>/g)) expect(image).toMatch(/ alt="[^"]{20,}"/);
    for (const name of ["main", "section", "figure", "table", "ul", "div", "p", "h2", "h3"]) {
      expect(html.split(`<${name}>`).length + html.split(`<${name} `).length - 1).toBe(html.split(`</${name}>`).length);
    }
    for (const part of ["web shop", "r within", "SHA-256", "95% interval", "What goes together in shop_orders"]) {
      expect(html).toContain(part);
    }
  });

  it("shows hostile names as text", async () => {
    const name = `<img src=x onerror=alert(1)>`;
    const dataset = { ...orders, datasetName: name, columns: orders.columns.map((column) => ({ ...column, name })) };
    const { report } = await writeReport({ dataset, correlations: { explanation: name, pairCount: 0 } }, folder.run);
    const html = await textOf(report);
    expect(html).not.toContain(name);
    expect(html).toContain("&lt;img src=x onerror=alert(1)&gt;");
  });
});
