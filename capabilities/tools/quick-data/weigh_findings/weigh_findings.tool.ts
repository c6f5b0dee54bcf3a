import { z } from "zod";
import { dataTool } from "../data/data-tool.ts";
import { Finding } from "../findings/finding.ts";
import { weigh } from "../findings/weigh.ts";
import { Correlations } from "../find_correlations/correlations.ts";
import { Segmentation } from "../segment_by_column/segmentation.ts";

const Segmentations = z.array(z.union([Segmentation, z.array(Segmentation.nullable()), z.null()])).max(10_000);

export const { definition, implementation } = dataTool({
  name: "weigh_findings",
  title: "Weigh findings",
  description:
    "Puts correlations together with what became of them within groups, and words them for a person: which hold, which fade, which turn round.",
  args: z.strictObject({
    pairs: Correlations.shape.pairs.describe("From quick-data::find_correlations"),
    segmentations: Segmentations.default([]).describe("From quick-data::segment_by_column, lists of lists included"),
  }),
  output: z.object({
    findings: z.array(Finding),
    count: z.int(),
    /** What to ask a person. */
    question: z.string(),
  }),
  effects: "pure",
  run: async ({ pairs, segmentations }) => {
    const flat = segmentations.flat().filter((segmentation) => segmentation !== null);
    const findings = weigh(pairs, flat);
    const listed = findings.map(({ number, headline, sentence }) => `${String(number)}. ${headline}. ${sentence}`);
    return { findings, count: findings.length, question: listed.join("\n") };
  },
});
