/** Each typo more multiplies the ways to compare two words. */
const MAX_TYPOS = 3;

/** How many letters were changed, added, left out or swapped with their neighbour; Infinity for more than `most`. */
export function typosBetween(said: string, word: string, most: number): number {
  return count(said, word, Math.min(most, MAX_TYPOS));
}

function count(said: string, word: string, left: number): number {
  if (Math.abs(said.length - word.length) > left) return Infinity;
  let at = 0;
  while (at < said.length && said[at] === word[at]) at += 1;
  if (at === said.length) return word.length - at;
  if (left === 0) return Infinity;
  const [a, b] = [said.slice(at), word.slice(at)];
  const isSwap = a.length > 1 && a[0] === b[1] && a[1] === b[0];
  return (
    1 +
    Math.min(
      count(a.slice(1), b.slice(1), left - 1),
      count(a.slice(1), b, left - 1),
      count(a, b.slice(1), left - 1),
      isSwap ? count(a.slice(2), b.slice(2), left - 1) : Infinity,
    )
  );
}
