import { shown } from "../stats/describe-pair.ts";
import { charted, type ChartTitle, label } from "./look.ts";
import type { ChartSpec } from "./render-chart.ts";

export type MatrixParts = ChartTitle & {
  readonly columns: readonly string[];
  readonly matrix: readonly (readonly (number | null)[])[];
};

/** Up to this many columns each cell has its number written in it. */
const NUMBERS_UP_TO = 12;

/** Correlations as coloured cells: blue together, orange against each other. */
export function matrixSpec({ columns, matrix, ...title }: MatrixParts): ChartSpec {
  const names = distinctLabels(columns);
  const values = matrix.flatMap((row, at) =>
    row.map((r, other) => ({
      row: names[at],
      column: names[other],
      r,
      text: r === null ? "–" : shown(r),
    })),
  );
  const size = Math.max(18, Math.min(58, Math.floor(560 / Math.max(1, columns.length))));
  const place = {
    x: {
      field: "column",
      type: "nominal",
      sort: names,
      title: null,
      axis: { labelAngle: -40, domain: false, ticks: false },
    },
    y: { field: "row", type: "nominal", sort: names, title: null, axis: { domain: false, ticks: false } },
  };
  const color = {
    field: "r",
    type: "quantitative",
    title: "Correlation",
    scale: { domain: [-1, 0, 1], range: ["#c2570c", "#f7f7f5", "#1f5fa6"], interpolate: "rgb" },
    legend: { gradientLength: Math.max(100, Math.min(size * columns.length, 240)) },
  };
  const ink = { condition: { test: "abs(datum.r) > 0.55", value: "#ffffff" }, value: "#3e4c59" };
  return charted(title, {
    width: { step: size },
    height: { step: size },
    data: { values },
    layer: [
      { mark: { type: "rect", stroke: "#ffffff", strokeWidth: 2 }, encoding: { ...place, color } },
      ...(columns.length > NUMBERS_UP_TO
        ? []
        : [{ mark: { type: "text", fontSize: 12 }, encoding: { ...place, text: { field: "text" }, color: ink } }]),
    ],
  });
}

/** Two columns whose labels would be one keep their names. */
function distinctLabels(columns: readonly string[]): string[] {
  const labels = columns.map(label);
  return labels.map((text, at) =>
    labels.indexOf(text) === at && labels.lastIndexOf(text) === at ? text : (columns[at] ?? text),
  );
}
