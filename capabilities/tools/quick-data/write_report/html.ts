/** Text as HTML shows it. */
export function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

export function element(name: string, content: string, attributes: Readonly<Record<string, string>> = {}): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
  return `<${name}${written.join("")}>${content}</${name}>`;
}

export function paragraph(text: string, attributes?: Readonly<Record<string, string>>): string {
  return element("p", escaped(text), attributes);
}

export function list(texts: readonly string[], attributes?: Readonly<Record<string, string>>): string {
  return element("ul", texts.map((text) => element("li", escaped(text))).join("\n"), attributes);
}

/** Cells are texts; the columns named in `right` hold numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], right: readonly number[]): string {
  const cell = (name: string) => (text: string, at: number) =>
    element(name, escaped(text), {
      ...(name === "th" ? { scope: "col" } : {}),
      ...(right.includes(at) ? { class: "number" } : {}),
    });
  const line = (name: string, cells: readonly string[]): string => element("tr", cells.map(cell(name)).join(""));
  const body = rows.map((cells) => line("td", cells)).join("\n");
  const filled = element("table", `${element("thead", line("th", head))}\n${element("tbody", body)}`);
  // On a narrow screen a wide table moves, not the page.
  return element("div", filled, { class: "wide" });
}

/** A whole page that needs nothing else and may load nothing else. */
export function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
}

const STYLE = `
body { margin: 0; background: #f5f6f8; color: #1f2933; font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 760px; margin: 0 auto; padding: 40px 32px 64px; background: #fff; }
h1 { font-size: 28px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 20px; margin: 40px 0 8px; padding-top: 16px; border-top: 1px solid #e4e7eb; }
h3 { font-size: 17px; margin: 32px 0 4px; overflow-wrap: anywhere; }
h4 { font-size: 15px; margin: 20px 0 0; }
p, ul { margin: 8px 0; overflow-wrap: anywhere; }
ul { padding-left: 22px; }
li { margin: 2px 0; }
.lead { font-size: 17px; }
.quiet { color: #52606d; font-size: 14px; }
.note { border-left: 4px solid #d97706; background: #fdf6ec; padding: 8px 14px; }
.fine { border-left: 4px solid #3f8f6b; background: #eef7f2; padding: 8px 14px; }
figure { margin: 16px 0; }
figure img { display: block; max-width: 100%; height: auto; }
.wide { overflow-x: auto; margin: 12px 0; }
table { border-collapse: collapse; font-size: 14px; }
th, td { text-align: left; padding: 5px 16px 5px 0; border-bottom: 1px solid #e4e7eb; vertical-align: top; }
th { color: #52606d; font-weight: 600; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@page { margin: 18mm 16mm; }
@media print {
  body { background: #fff; font-size: 11pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h1, h2, h3, h4 { break-after: avoid; }
  figure, tr, .note, .fine { break-inside: avoid; }
  thead { display: table-header-group; }
  .wide { overflow: visible; }
}
`;
