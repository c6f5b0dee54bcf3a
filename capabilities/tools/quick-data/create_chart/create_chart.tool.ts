import { BlobRef } from "@ergon/core";
import { z } from "zod";
import { Picture } from "../charts/picture.ts";
import { renderSvg } from "../charts/render-chart.ts";
import { dataTool } from "../data/data-tool.ts";
import { withDataset } from "../data/open-dataset.ts";
import { CHART_KINDS, ChartArguments } from "./chart-arguments.ts";
import { specFor } from "./spec-for.ts";

const SVG = "image/svg+xml";
const VEGA_LITE = "application/vnd.vegalite.v6+json";

export const { definition, implementation } = dataTool({
  name: "create_chart",
  title: "Create a chart",
  description: `Draws a ${CHART_KINDS.join(", ")} chart of a dataset as an SVG picture, and keeps its Vega-Lite specification. Both are blobs: ergon blobs get fetches them.`,
  args: ChartArguments,
  output: z.object({
    kind: z.enum(CHART_KINDS),
    picture: Picture,
    /** Vega-Lite, with the points that are drawn in it. */
    spec: BlobRef,
    /** How many rows or groups are drawn, and of how many rows. */
    drawn: z.int(),
    rowCount: z.int(),
  }),
  effects: "pure",
  run: async (chart, run) =>
    withDataset(run, chart.dataset, async (opened) => {
      const { spec, title, caption, drawn } = await specFor(opened, chart);
      const [svg, kept] = [await renderSvg(spec), JSON.stringify(spec)];
      const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
      return {
        kind: chart.kind,
        picture: { title, caption, svg: await run.blobs.put(encode(svg), SVG) },
        spec: await run.blobs.put(encode(kept), VEGA_LITE),
        drawn,
        rowCount: opened.dataset.rowCount,
      };
    }),
});
