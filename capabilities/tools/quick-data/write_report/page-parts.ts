import { basename } from "node:path";
import type { BlobRef, ToolRun } from "@ergon/core";
import type { Picture } from "../charts/picture.ts";
import type { Dataset } from "../data/dataset.ts";
import { element, escaped, paragraph, table } from "./html.ts";

/** A picture with its bytes at hand. */
export type DrawnPicture = { readonly title: string; readonly caption: string; readonly svg: Uint8Array };

export async function drawn(run: ToolRun, { title, caption, svg }: Picture): Promise<DrawnPicture> {
  return { title, caption, svg: await run.blobs.get(svg) };
}

/** Keeps a page as a blob, and says how a person fetches it. */
export async function keepPage(
  run: ToolRun,
  { html, name }: { readonly html: string; readonly name: string },
): Promise<{ readonly report: BlobRef; readonly fetchWith: string }> {
  const report = await run.blobs.put(new TextEncoder().encode(html), "text/html");
  return { report, fetchWith: `ergon blobs get ${report.$blob} -o ${name.replaceAll(/[^\w.-]/g, "_")}.html` };
}

/** The picture bears its own title and caption. */
export function figure({ title, caption, svg }: DrawnPicture): string {
  // As an image, because scripts inside of an image do not run.
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
  return element("figure", `<img src="${source}" alt="${escaped(`${title}. ${caption}`)}">`);
}

export function dataSection({ columns, rowCount, source }: Dataset): string {
  const shownColumns = columns.slice(0, MAX_COLUMNS_SHOWN);
  const rows = shownColumns.map(({ name, role, type, missing, distinct }) => [
    name,
    role,
    type,
    grouped(missing),
    grouped(distinct),
  ]);
  const more =
    columns.length > MAX_COLUMNS_SHOWN
      ? [paragraph(`… and ${String(columns.length - MAX_COLUMNS_SHOWN)} more columns.`)]
      : [];
  return [
    element("h2", "The data"),
    paragraph(
      `${basename(source.path)}: ${grouped(rowCount)} rows, ${grouped(columns.length)} columns, as of ${source.modifiedAt.slice(0, 16).replace("T", " ")} UTC (SHA-256 ${source.sha256.slice(0, 12)}…).`,
    ),
    table(["Column", "Role", "Type", "Missing", "Different values"], rows, [3, 4]),
    ...more,
  ].join("\n");
}

const MAX_COLUMNS_SHOWN = 60;

/** 12,345 */
export function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
