/**
 * Text that a server wrote, as a person should see it before saying yes: whatever does not show, or changes how the rest
 * shows (control characters, zero-width and bidirectional marks, tags, variation selectors, private use), is written out.
 */
export function showHidden(text: string): string {
  return text.replaceAll(HIDDEN, (mark) =>
    mark === "\n" || mark === "\t" ? mark : `\\u{${(mark.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/gu;
