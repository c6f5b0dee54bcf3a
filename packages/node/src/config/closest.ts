/** Longer words are compared by their first characters only. */
export const MAX_COMPARED_LENGTH = 100;

/** The candidate that was probably meant, or undefined when none is near enough to be worth naming. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = normalise(word);
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const offered = normalise(candidate);
    const distance = editDistance(wanted, offered);
    if (distance > Math.max(1, Math.floor(Math.max(wanted.length, offered.length) * 0.4))) continue;
    if (best === undefined || distance < best.distance) best = { candidate, distance };
  }
  return best?.candidate;
}

function normalise(word: string): string {
  return word.slice(0, MAX_COMPARED_LENGTH).toLowerCase();
}

/** Insertions, deletions, replacements and swapped neighbours. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(beforeLast, j - 2) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, at(last, j) + 1, at(row, j - 1) + 1));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
