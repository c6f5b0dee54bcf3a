/** Longer words are compared by their beginnings only, so that a suggestion never costs real time. */
const MAX_SUGGEST_LENGTH = 64;
export const MAX_SUGGEST_CANDIDATES = 10_000;

/** The candidate that a mistyped word most likely meant, or undefined when none is near. */
export function suggest(word: string, candidates: Iterable<string>): string | undefined {
  const wanted = normal(word);
  if (wanted === "") return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  let seen = 0;
  for (const candidate of candidates) {
    seen += 1;
    if (seen > MAX_SUGGEST_CANDIDATES) break;
    const distance = Math.min(
      editDistance(wanted, normal(candidate), bestDistance),
      // "greet" means "demo::greet" more than it means any other short word.
      candidate.includes("::") ? editDistance(wanted, normal(lastPart(candidate)), bestDistance) + 0.5 : Infinity,
    );
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

/** The sentence for the end of a message, with a space before it; empty when there is nothing to suggest. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = suggest(word, candidates);
  return found === undefined ? "" : ` Did you mean "${found}"?`;
}

/** Damerau-Levenshtein (optimal string alignment): edits and swaps of neighbours; `limit` or more reads as `limit`. */
export function editDistance(a: string, b: string, limit: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    let nearest = row;
    for (let column = 1; column <= b.length; column += 1) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(cell(last, column) + 1, cell(current, column - 1) + 1, cell(last, column - 1) + cost);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) distance = Math.min(distance, cell(beforeLast, column - 2) + 1);
      current.push(distance);
      nearest = Math.min(nearest, distance);
    }
    if (nearest >= limit) return limit;
    beforeLast = last;
    last = current;
  }
  return Math.min(limit, cell(last, b.length));
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}

function normal(word: string): string {
  return word.slice(0, MAX_SUGGEST_LENGTH).toLowerCase();
}

function lastPart(id: string): string {
  return id.slice(id.lastIndexOf("::") + 2);
}
