import type { Bin } from "../stats/histogram.ts";
import type { Series } from "../stats/time-buckets.ts";
import { ACCENT, charted, type ChartTitle, cut, INK, label } from "./look.ts";
import type { ChartSpec } from "./render-chart.ts";

export function histogramSpec(
  parts: ChartTitle & { readonly column: string; readonly bins: readonly Bin[] },
): ChartSpec {
  const { column, bins, ...title } = parts;
  return charted(title, {
    data: { values: bins },
    mark: { type: "bar", color: ACCENT, binSpacing: 1 },
    encoding: {
      x: { field: "from", type: "quantitative", bin: { binned: true }, title: label(column) },
      x2: { field: "to" },
      y: { field: "count", type: "quantitative", title: "Rows" },
    },
  });
}

export type BarParts = ChartTitle & {
  readonly by: string;
  /** What the length of a bar means. */
  readonly measure: string;
  readonly bars: readonly { readonly value: string; readonly size: number }[];
};

export function barSpec({ by, measure, bars, ...title }: BarParts): ChartSpec {
  return charted(title, {
    height: { step: 26 },
    data: { values: bars.map(({ value, size }) => ({ value: cut(value, 60), size })) },
    mark: { type: "bar", color: ACCENT, cornerRadiusEnd: 2 },
    encoding: {
      y: { field: "value", type: "nominal", sort: null, title: label(by) },
      x: { field: "size", type: "quantitative", title: measure },
    },
  });
}

export function lineSpec(
  parts: ChartTitle & { readonly time: string; readonly value: string | undefined; readonly series: Series },
): ChartSpec {
  const { time, value, series, ...title } = parts;
  const values = series.points.map(({ period, rows, mean }) => ({
    at: period,
    size: value === undefined ? rows : mean,
  }));
  return charted(title, {
    width: 640,
    data: { values, format: { parse: { at: "date" } } },
    mark: {
      type: "line",
      color: ACCENT,
      strokeWidth: 2,
      point: values.length <= 60 ? { size: 24, color: ACCENT } : false,
    },
    encoding: {
      x: { field: "at", type: "temporal", title: `${label(time)}, by ${series.period}` },
      y: {
        field: "size",
        type: "quantitative",
        title: value === undefined ? "Rows" : `Mean of ${label(value)}`,
        scale: { zero: value === undefined },
      },
    },
  });
}

export type Box = {
  readonly group: string;
  readonly low: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly high: number;
};

/** From the fifth to the ninety-fifth percent, a box for the middle half, a line for the median. */
export function boxSpec(
  parts: ChartTitle & { readonly by: string | undefined; readonly value: string; readonly boxes: readonly Box[] },
): ChartSpec {
  const { by, value, boxes, ...title } = parts;
  const values = boxes.map((box) => ({ ...box, group: cut(box.group, 60) }));
  const y = { field: "group", type: "nominal", sort: null, title: by === undefined ? null : label(by) };
  const x = (field: string) => ({ field, type: "quantitative", title: label(value), scale: { zero: false } });
  return charted(title, {
    height: { step: 44 },
    data: { values },
    layer: [
      { mark: { type: "rule", color: "#52606d" }, encoding: { y, x: x("low"), x2: { field: "high" } } },
      {
        mark: { type: "bar", size: 20, color: ACCENT, opacity: 0.8 },
        encoding: { y, x: x("q1"), x2: { field: "q3" } },
      },
      { mark: { type: "tick", size: 20, thickness: 2.5, color: INK }, encoding: { y, x: x("median") } },
    ],
  });
}
