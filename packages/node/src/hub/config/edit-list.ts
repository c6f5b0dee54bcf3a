import type { Node } from "jsonc-parser";

/*
 * Takes items out of a list in JSON with comments, and puts them in. A comment on the lines directly above an item belongs to it,
 * and so does one behind it at the end of its last line. All other text stays as it is.
 */

/** A part of the text, from `start` up to `end`. */
type Span = { readonly start: number; readonly end: number };

export function withoutItem(text: string, list: Node, index: number): string {
  const { item, before, after } = around(text, list, index);
  const start = ownAbove(text, item, before.comments)[0]?.start ?? item.start;
  const tail = ownBehind(text, item, after);
  const comma = after.comma ?? before.comma;
  const end = Math.max(item.end, ...tail.map((span) => span.end), sameLine(text, item.end, after.comma));
  const whole = wholeLines(text, { start, end }) ?? inLine(text, { start, end }, after.comma === undefined);
  const cuts = comma === undefined || (comma.start >= whole.start && comma.end <= whole.end) ? [whole] : [whole, comma];
  return cuts
    .sort((a, b) => b.start - a.start)
    .reduce((left, span) => left.slice(0, span.start) + left.slice(span.end), text);
}

/** Behind the last one; the list has one at least. */
export function withLastItem(text: string, list: Node, value: unknown): string {
  const last = (list.children?.length ?? 0) - 1;
  const { item, after } = around(text, list, last);
  const anchor = after.comma ?? item;
  const tails = [...ownBehind(text, item, after), ...ownBehind(text, anchor, after)];
  const end = Math.max(anchor.end, ...tails.map((span) => span.end));
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  const outer = /^[ \t]*/.exec(text.slice(lineStart(text, list.offset)))?.[0] ?? "";
  const indent = indentAt(text, item.start) ?? `${outer}  `;
  const lines = JSON.stringify(value, undefined, 2).split("\n");
  const added = lines.map((line) => lineEnd + indent + line).join("");
  const closes = /^[ \t]*]/.test(text.slice(end)) ? lineEnd + outer : "";
  const comma = after.comma === undefined ? "" : ",";
  const behind = text.slice(item.end, end);
  return (
    text.slice(0, item.end) + (after.comma === undefined ? "," : "") + behind + added + comma + closes + text.slice(end)
  );
}

type Between = { readonly comments: readonly Span[]; readonly comma?: Span };

/** An item, and what lies between it and its neighbours, or the brackets. */
function around(text: string, list: Node, index: number) {
  const spans = (list.children ?? []).map(({ offset, length }) => ({ start: offset, end: offset + length }));
  const item = spans[index] ?? { start: list.offset, end: list.offset };
  const listEnd = list.offset + list.length - 1;
  return {
    item,
    before: between(text, { start: spans[index - 1]?.end ?? list.offset + 1, end: item.start }),
    after: between(text, { start: item.end, end: spans[index + 1]?.start ?? listEnd }),
  };
}

/** Nothing but space, comments and a comma stands there. */
function between(text: string, { start, end }: Span): Between {
  const found = [...text.slice(start, end).matchAll(/\/\/[^\r\n]*|\/\*[^]*?\*\/|,/g)].map(({ index, 0: token }) => ({
    isComma: token === ",",
    span: { start: start + index, end: start + index + token.length },
  }));
  const comma = found.find(({ isComma }) => isComma)?.span;
  const comments = found.flatMap(({ isComma, span }) => (isComma ? [] : [span]));
  return { comments, ...(comma === undefined ? {} : { comma }) };
}

/** The comments on the lines directly above, the uppermost first. */
function ownAbove(text: string, item: Span, comments: readonly Span[]): readonly Span[] {
  const own: Span[] = [];
  let below = item;
  for (const comment of comments.toReversed()) {
    const gap = text.slice(comment.end, below.start);
    if (!/^[ \t]*\r?\n[ \t]*$/.test(gap) || indentAt(text, comment.start) === undefined) break;
    own.unshift(comment);
    below = comment;
  }
  return indentAt(text, item.start) === undefined ? [] : own;
}

/** The comments behind it that begin on its last line. */
function ownBehind(text: string, item: Span, { comments }: Between): readonly Span[] {
  return comments.filter(({ start }) => start >= item.end && !text.slice(item.end, start).includes("\n"));
}

function sameLine(text: string, from: number, span: Span | undefined): number {
  return span === undefined || text.slice(from, span.start).includes("\n") ? 0 : span.end;
}

/** The lines that hold nothing else, with the end of the last one; undefined where something else stands there. */
function wholeLines(text: string, { start, end }: Span): Span | undefined {
  const rest = /^[ \t]*(?:\r?\n)/.exec(text.slice(end));
  if (rest === null || indentAt(text, start) === undefined) return undefined;
  return { start: lineStart(text, start), end: end + rest[0].length };
}

/** With the space up to what comes next, or, where nothing does, from what came before. */
function inLine(text: string, { start, end }: Span, isLast: boolean): Span {
  if (isLast) return { start: start - (/[ \t]*$/.exec(text.slice(0, start))?.[0].length ?? 0), end };
  return { start, end: end + (/^[ \t]*/.exec(text.slice(end))?.[0].length ?? 0) };
}

/** What a line begins with, where nothing else stands before this place. */
function indentAt(text: string, offset: number): string | undefined {
  const before = text.slice(lineStart(text, offset), offset);
  return before.trim() === "" ? before : undefined;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}
