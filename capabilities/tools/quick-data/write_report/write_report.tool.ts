import { BlobRef } from "@ergon/core";
import { z } from "zod";
import { Picture } from "../charts/picture.ts";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { findDataset } from "../data/open-dataset.ts";
import { Finding } from "../findings/finding.ts";
import { Correlations } from "../find_correlations/correlations.ts";
import { correlationReport, type ReportParts, summaryOf } from "./correlation-report.ts";
import { drawn, keepPage } from "./page-parts.ts";

export const { definition, implementation } = dataTool({
  name: "write_report",
  title: "Write a correlation report",
  description:
    "Writes a self-contained HTML page about what goes together in a dataset: in words, as a matrix, each pair as a picture, and what holds within groups. The page is a blob: ergon blobs get fetches it.",
  args: z.strictObject({
    dataset: DatasetArgument,
    correlations: z.object({ explanation: Correlations.shape.explanation, pairCount: Correlations.shape.pairCount }),
    findings: z.array(Finding).max(100).default([]).describe("From quick-data::weigh_findings"),
    matrix: Picture.nullable().default(null).describe("From quick-data::create_chart"),
    pictures: z.array(Picture.nullable()).max(100).default([]).describe("One for each finding"),
    test: z
      .object({ finding: z.int(), heading: z.string().max(2_000), lines: z.array(z.string().max(2_000)).max(100) })
      .nullable()
      .default(null)
      .describe("What a closer look at one finding gave"),
    title: z.string().max(200).optional(),
  }),
  output: z.object({ report: BlobRef, title: z.string(), summary: z.string(), fetchWith: z.string() }),
  effects: "pure",
  run: async (args, run) => {
    const dataset = await findDataset(run, args.dataset);
    const title = args.title ?? `What goes together in ${dataset.datasetName}`;
    const open = async (picture: Picture | null) => (picture === null ? undefined : drawn(run, picture));
    const pictures = await Promise.all(args.pictures.map(open));
    const parts: ReportParts = {
      title,
      dataset,
      ...args.correlations,
      findings: args.findings,
      matrix: await open(args.matrix),
      pictures,
      test: args.test ?? undefined,
    };
    const kept = await keepPage(run, { html: correlationReport(parts), name: `${dataset.datasetName}-report` });
    return { ...kept, title, summary: summaryOf(parts) };
  },
});
