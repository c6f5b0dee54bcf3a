import type { Row } from "../data/database.ts";
import { ACCENT, charted, type ChartTitle, INK, label } from "./look.ts";
import type { ChartSpec } from "./render-chart.ts";

export type ScatterParts = ChartTitle & {
  readonly x: string;
  readonly y: string;
  readonly color?: string;
  /** Rows of `x`, `y` and `color`: column names never become part of the specification. */
  readonly points: readonly Row[];
};

/** Points and their line of best fit; with a colour, a line for each group. */
export function scatterSpec({ x, y, color, points, ...title }: ScatterParts): ChartSpec {
  const place = {
    x: { field: "x", type: "quantitative", title: label(x), scale: { zero: false, nice: true } },
    y: { field: "y", type: "quantitative", title: label(y), scale: { zero: false, nice: true } },
  };
  const group =
    color === undefined ? { value: ACCENT } : { field: "color", type: "nominal", title: label(color), sort: null };
  const opacity = points.length > 400 ? 0.35 : 0.55;
  const fit = {
    transform: [{ regression: "y", on: "x", ...(color === undefined ? {} : { groupby: ["color"] }) }],
    mark: { type: "line", strokeWidth: 2.5, clip: true },
    encoding: { ...place, color: color === undefined ? { value: "#b5446e" } : group },
  };
  const overall = {
    transform: [{ regression: "y", on: "x" }],
    mark: { type: "line", strokeWidth: 2, strokeDash: [6, 4], clip: true },
    encoding: { ...place, color: { value: INK } },
  };
  return charted(title, {
    data: { values: points },
    layer: [
      { mark: { type: "circle", aria: false, size: 26, opacity, clip: true }, encoding: { ...place, color: group } },
      fit,
      ...(color === undefined ? [] : [overall]),
    ],
  });
}
