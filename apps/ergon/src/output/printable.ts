/**
 * Text that others wrote (a tool's description, an error of a tool), made safe for a screen: control characters and
 * marks that reorder text are shown as escapes, so that no description can rewrite what a person sees.
 */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (mark) =>
    mark === "\n" || mark === "\t" ? mark : `\\u${(mark.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

export function oneLine(text: string): string {
  return printable(text.replaceAll(/\s+/g, " ").trim());
}
