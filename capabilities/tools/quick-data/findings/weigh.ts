import type { z } from "zod";
import type { Segmentation } from "../segment_by_column/segmentation.ts";
import type { Verdict } from "../stats/compare-segments.ts";
import type { Pair } from "../stats/correlate.ts";
import { describePair } from "../stats/describe-pair.ts";
import type { Finding } from "./finding.ts";

/** What changes the reading of a correlation most comes first. */
const TELLING: readonly Verdict[] = ["reverses", "fades", "mixed", "holds", "too_few_rows"];

/** Each pair with the segmentation that says most about it. */
export function weigh(pairs: readonly Pair[], segmentations: readonly z.infer<typeof Segmentation>[]): Finding[] {
  return pairs.map((pair, at) => {
    const [telling] = segmentations
      .flatMap((segmentation) => {
        const { pair: looked } = segmentation;
        return looked !== null && looked.x === pair.x && looked.y === pair.y ? [{ ...segmentation, pair: looked }] : [];
      })
      .toSorted((a, b) => TELLING.indexOf(a.pair.verdict) - TELLING.indexOf(b.pair.verdict));
    const verdict = telling?.pair.verdict ?? null;
    const changes = verdict === "reverses" || verdict === "fades" || verdict === "mixed";
    return {
      number: at + 1,
      ...pair,
      by: telling?.by ?? null,
      verdict,
      segments: telling?.segments.map(({ value, r, n }) => ({ value, r, n })) ?? [],
      colorBy: changes ? (telling?.by ?? null) : null,
      headline: describePair(pair),
      sentence: telling?.pair.sentence ?? "There are no groups to look at it in.",
    };
  });
}
