/**
 * Text that others wrote (a tool's description, an error of a tool), made safe for a screen: control characters, marks
 * that reorder text and characters that do not show are written as escapes, so that no description can rewrite what a
 * person sees, nor say more than they see.
 */
export function printable(text: string): string {
  return text.replaceAll(HIDDEN, (mark) => {
    if (mark === "\n" || mark === "\t") return mark;
    const code = (mark.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** But for what joins emoji, or letters of scripts that are written with joiners. */
const HIDDEN =
  /(?!(?<=\p{Emoji})\ufe0f|(?<=[\p{Emoji}\ufe0f])\u200d(?=\p{Emoji})|(?<=(?!\p{Script=Latin})[\p{L}\p{M}])[\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\u2028\u2029]/gu;

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
