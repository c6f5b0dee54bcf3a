/**
 * Text that others wrote (a tool's description, an error of a tool), made safe for a screen: control characters and
 * marks that reorder text are shown as escapes, so that no description can rewrite what a person sees.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (mark) =>
    mark === "\n" || mark === "\t" ? mark : `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/** In the lines that it was written in, each but the first indented: none of them can pass for a line of ours. */
export function inLines(text: string): string {
  const lines = text.trim().split("\n").map(oneLine);
  return lines.filter((line) => line !== "").join("\n  ");
}

export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim());
}

export function count(number: number, word: string): string {
  return `${String(number)} ${word}${number === 1 ? "" : "s"}`;
}
