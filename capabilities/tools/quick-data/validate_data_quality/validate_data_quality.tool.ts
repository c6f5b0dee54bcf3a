import { z } from "zod";
import { DatasetArgument, dataTool } from "../data/data-tool.ts";
import { withDataset } from "../data/open-dataset.ts";
import { Issue, issuesIn, MAX_CHECKED } from "./issues.ts";

export const { definition, implementation } = dataTool({
  name: "validate_data_quality",
  title: "Validate data quality",
  description: `Looks for what is wrong with a dataset: missing values, doubled rows, constant columns, numbers written as text, numbers that are none, spaces around texts, identifiers that occur twice. Checks ${String(MAX_CHECKED)} columns at most.`,
  args: z.strictObject({ dataset: DatasetArgument }),
  output: z.object({
    datasetName: z.string(),
    rowCount: z.int(),
    duplicateRows: z.int(),
    /** 100 without any issue; each takes off by how much of the data it touches. */
    score: z.number(),
    /** The worst first. */
    issues: z.array(Issue),
    summary: z.string(),
  }),
  effects: "pure",
  run: async ({ dataset: argument }, run) =>
    withDataset(run, argument, async (opened) => {
      const { datasetName, rowCount } = opened.dataset;
      const { issues, duplicateRows } = await issuesIn(opened);
      const lost = issues.reduce((sum, { severity, share }) => sum + WEIGHTS[severity] * share, 0);
      const score = Math.max(
        0,
        Math.round((100 - lost / Math.max(1, Math.min(opened.columns.length, MAX_CHECKED))) * 10) / 10,
      );
      const [worst] = issues;
      const summary =
        worst === undefined
          ? `${datasetName}: nothing wrong was found in ${String(rowCount)} rows.`
          : `${datasetName}: ${String(issues.length)} issues, score ${String(score)} of 100. First: ${worst.message}`;
      return { datasetName, rowCount, duplicateRows, score, issues: [...issues], summary };
    }),
});

const WEIGHTS = { high: 200, medium: 100, low: 30 } as const;
