import { BlobRef } from "@ergon/core";
import { z } from "zod";
import { Picture } from "../charts/picture.ts";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { findDataset } from "../data/open-dataset.ts";
import { dataSection, drawn, figure, keepPage } from "../write_report/page-parts.ts";
import { element, escaped, list, page } from "../write_report/html.ts";

export const { definition, implementation } = dataTool({
  name: "write_overview",
  title: "Write an overview",
  description:
    "Writes a self-contained HTML page about a dataset, with sentences and pictures of its columns. The page is a blob: ergon blobs get fetches it.",
  args: z.strictObject({
    dataset: DatasetArgument,
    sentences: z.array(z.string().max(10_000)).max(100).describe("What was found, each in words"),
    overTime: z.array(z.string().max(10_000)).max(1_000).default([]).describe("From quick-data::time_series_analysis"),
    pictures: z.array(Picture).max(100).default([]).describe("From quick-data::create_chart"),
  }),
  output: z.object({ report: BlobRef, title: z.string(), summary: z.string(), fetchWith: z.string() }),
  effects: "pure",
  run: async ({ dataset: argument, sentences: first, overTime, pictures }, run) => {
    const dataset = await findDataset(run, argument);
    const sentences = [...first, ...overTime];
    const title = `A first look at ${dataset.datasetName}`;
    const shown = await Promise.all(pictures.map((picture) => drawn(run, picture)));
    const body = [element("h1", escaped(title)), list(sentences, { class: "lead" }), ...shown.map(figure)];
    const html = page(title, [...body, dataSection(dataset)].join("\n"));
    const kept = await keepPage(run, { html, name: `${dataset.datasetName}-overview` });
    return { ...kept, title, summary: sentences.join(" ") };
  },
});
