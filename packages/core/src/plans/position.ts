/**
 * Positions in a session's story, as strings that sort bytewise in reading order.
 *
 * A position is a list of numbers: the run, then for each list of steps that encloses the visit its index
 * there, and between two of these the index of the branch or loop turn. Each number is written as its length (one
 * character) followed by its base-36 digits, so that numbers of any size sort, concatenate and split without doubt.
 * A branch's positions all begin with the branch's own prefix, which begins with the position of the step that opened it: joined
 * history reads in branch order with nothing rewritten.
 */
export function encodePart(n: number): string {
  const digits = n.toString(36);
  return LENGTHS.charAt(digits.length) + digits;
}

export function encodePosition(parts: readonly number[]): string {
  return parts.map(encodePart).join("");
}

export function decodePosition(position: string): number[] {
  const parts: number[] = [];
  for (let at = 0; at < position.length;) {
    const end = at + 1 + LENGTHS.indexOf(position.charAt(at));
    parts.push(Number.parseInt(position.slice(at + 1, end), 36));
    at = end;
  }
  return parts;
}

/** The first part of `position` at offset `at`, and where the next begins. */
export function partAt(position: string, at: number): { readonly value: number; readonly end: number } {
  const end = at + 1 + LENGTHS.indexOf(position.charAt(at));
  return { value: Number.parseInt(position.slice(at + 1, end), 36), end };
}

/** Sorts after every position that begins with `prefix`. */
export function afterPrefix(prefix: string): string {
  return `${prefix}~`;
}

/** A number's digits fit in 11 characters (2^53 in base 36); index is the length. */
const LENGTHS = "0123456789ab";
