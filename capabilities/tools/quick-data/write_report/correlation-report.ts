import type { Dataset } from "../data/dataset.ts";
import type { Finding } from "../findings/finding.ts";
import { shown } from "../stats/describe-pair.ts";
import { element, escaped, list, page, paragraph, table } from "./html.ts";
import { dataSection, type DrawnPicture, figure, grouped } from "./page-parts.ts";

export type ReportParts = {
  readonly title: string;
  readonly dataset: Dataset;
  readonly explanation: string;
  readonly pairCount: number;
  readonly findings: readonly Finding[];
  readonly matrix: DrawnPicture | undefined;
  /** In the order of the findings. */
  readonly pictures: readonly (DrawnPicture | undefined)[];
  readonly test: TestedFinding | undefined;
};

type TestedFinding = { readonly finding: number; readonly heading: string; readonly lines: readonly string[] };

export function correlationReport(parts: ReportParts): string {
  const { title, dataset, findings, matrix, test } = parts;
  const [first = "", ...more] = takeaways(parts);
  return page(
    title,
    [
      element("h1", escaped(title)),
      paragraph(sourceLine(dataset), { class: "quiet" }),
      paragraph(first, { class: "lead" }),
      ...(more.length === 0 ? [] : [list(more, { class: "lead" })]),
      ...(findings.length === 0 ? [] : [overview(findings)]),
      ...(matrix === undefined ? [] : [element("h2", "All columns of numbers"), figure(matrix)]),
      ...(findings.length === 0 ? [] : [element("h2", "What was found")]),
      ...findings.map((finding, at) => section(finding, parts.pictures[at], test)),
      dataSection(dataset),
      howToRead(),
    ].join("\n"),
  );
}

/** What a person wants to know first. */
export function summaryOf(parts: ReportParts): string {
  return takeaways(parts).join(" ");
}

function takeaways({ dataset, explanation, findings, pairCount, test }: ReportParts): readonly string[] {
  const [first] = findings;
  if (first === undefined) return [explanation];
  const strong = findings.filter(({ strength }) => strength === "strong").length;
  const turned = findings.filter(({ verdict }) => verdict === "reverses" || verdict === "fades");
  const holding = findings.filter(({ verdict }) => verdict === "holds");
  const chosen = findings.find(({ number }) => number === test?.finding);
  return [
    `In ${grouped(dataset.rowCount)} rows of ${dataset.datasetName}, ${counted(findings.length, "pair")} of ${grouped(pairCount)} ${findings.length === 1 ? "goes" : "go"} together clearly, ${shareOf(strong, findings.length)} strongly.`,
    `The strongest: ${first.headline}.`,
    ...turned.map(({ x, y, by, verdict }) =>
      verdict === "reverses"
        ? `Do not take ${x} and ${y} at face value: within every ${by ?? "group"} they go the other way.`
        : `Most of what ${x} and ${y} share comes from differences between ${by ?? "groups"}.`,
    ),
    ...holding
      .slice(0, 2)
      .map(({ x, y, by }) => `What ${x} and ${y} have in common holds within every ${by ?? "group"}.`),
    ...(test === undefined || chosen === undefined
      ? []
      : [`Finding ${String(chosen.number)} was tested for chance. ${test.heading}`]),
  ];
}

function overview(findings: readonly Finding[]): string {
  const rows = findings.map(({ number, x, y, r, interval, n, verdict, by }) => [
    String(number),
    `${x} and ${y}`,
    shown(r),
    interval === null ? "–" : `${shown(interval[0])} to ${shown(interval[1])}`,
    grouped(n),
    verdict === null ? "no groups" : `${VERDICTS[verdict]} (${by ?? ""})`,
  ]);
  return table(["No.", "Pair", "r", "95% interval", "Rows", "Within groups"], rows, [2, 3, 4]);
}

const VERDICTS = {
  holds: "holds",
  reverses: "turns round",
  fades: "fades",
  mixed: "differs",
  too_few_rows: "too few rows",
} as const;

function section(finding: Finding, picture: DrawnPicture | undefined, test: TestedFinding | undefined): string {
  const { number, headline, verdict, sentence, by, segments } = finding;
  const tone = verdict === "holds" ? "fine" : verdict === "too_few_rows" || verdict === null ? "quiet" : "note";
  const rows = segments.map(({ value, r, n }) => [value, grouped(n), shown(r)]);
  return element(
    "section",
    [
      element("h3", escaped(`${String(number)}. ${headline}`)),
      paragraph(sentence, { class: tone }),
      ...(picture === undefined ? [] : [figure(picture)]),
      ...(by === null || rows.length === 0 ? [] : [table([by, "Rows", "r within"], rows, [1, 2])]),
      ...(test?.finding === number ? [tested(test)] : []),
    ].join("\n"),
  );
}

function tested({ heading, lines }: TestedFinding): string {
  return [element("h4", "Tested for chance"), paragraph(heading), list(lines, { class: "quiet" })].join("\n");
}

function howToRead(): string {
  return [
    element("h2", "How to read this"),
    paragraph(
      "r runs from −1 to 1: at 1 two columns rise together on a straight line, at −1 one falls as the other rises, at 0 a straight line says nothing. The interval is where r lies with 95% confidence if the rows are a fair sample. That two things go together does not say that one causes the other.",
      { class: "quiet" },
    ),
  ].join("\n");
}

function sourceLine({ datasetName, rowCount, columns, source }: Dataset): string {
  return `${datasetName} · ${grouped(rowCount)} rows · ${grouped(columns.length)} columns · ${source.format} · ${source.modifiedAt.slice(0, 10)}`;
}

function counted(count: number, word: string): string {
  return `${grouped(count)} ${word}${count === 1 ? "" : "s"}`;
}

function shareOf(some: number, all: number): string {
  if (some === 0) return "none of them";
  if (some < all) return `${grouped(some)} of them`;
  return all === 1 ? "and" : all === 2 ? "both" : "all of them";
}
