// How every chart of the pack looks.
import type { ChartSpec } from "./render-chart.ts";

const SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
export const INK = "#1f2933";
export const ACCENT = "#2563a8";
/** Told apart also by people who see few colours. */
const CATEGORY_COLORS = ["#2563a8", "#d97706", "#3f8f6b", "#b5446e", "#6b5ca5", "#8a6d3b", "#4b9cb5", "#707782"];
const MAX_TITLE = 90;

export type ChartTitle = { readonly title: string; readonly subtitle?: string };

/** The frame around a chart's own part. */
export function charted({ title, subtitle }: ChartTitle, spec: ChartSpec): ChartSpec {
  return {
    $schema: SCHEMA,
    background: "#ffffff",
    padding: 14,
    width: 480,
    height: 300,
    title: {
      text: cut(title, MAX_TITLE),
      ...(subtitle === undefined ? {} : { subtitle: cut(subtitle, 110) }),
      anchor: "start",
      offset: 14,
    },
    config: {
      font: FONT,
      view: { stroke: null },
      title: {
        fontSize: 15,
        fontWeight: 600,
        color: INK,
        subtitleFontSize: 12,
        subtitleColor: "#52606d",
        subtitlePadding: 5,
      },
      axis: {
        labelFontSize: 11,
        titleFontSize: 12,
        titleFontWeight: 500,
        titlePadding: 8,
        labelColor: "#3e4c59",
        titleColor: INK,
        gridColor: "#e4e7eb",
        domainColor: "#9aa5b1",
        tickColor: "#9aa5b1",
        labelLimit: 180,
      },
      legend: { labelFontSize: 11, titleFontSize: 12, titleFontWeight: 500, labelLimit: 160, symbolSize: 70 },
      range: { category: CATEGORY_COLORS },
    },
    ...spec,
  };
}

/** `delivery_days` as a person would write it, with its unit where the name tells one. */
export function label(column: string): string {
  const words = column.replaceAll(/[_\s]+/g, " ").trim();
  for (const [ending, unit] of UNITS) {
    const match = ending.exec(words);
    if (match !== null && match.index > 0) {
      return `${sentence(words.slice(0, match.index).trim())} (${match[1] ?? unit})`;
    }
  }
  return cut(words === "" ? column : sentence(words), 60);
}

const UNITS: readonly (readonly [RegExp, string])[] = [
  [/ (?:percent|pct)$/i, "%"],
  [/ eur$/i, "€"],
  [/ usd$/i, "$"],
  [/ kg$/i, "kg"],
  [/ g$/i, "g"],
  [/ km$/i, "km"],
  [/ c$/, "°C"],
  [/ hpa$/i, "hPa"],
  [/ mm s$/i, "mm/s"],
  [/ ms$/i, "ms"],
  [/ (days|hours|minutes|seconds|years)$/i, "time"],
];

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

export function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}
