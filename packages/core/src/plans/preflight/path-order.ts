/** Orders JSONPaths as a reader would: `$.steps[2]` before `$.steps[10]`, a whole before its parts. */
export function comparePaths(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a.charCodeAt(at) === b.charCodeAt(at)) at += 1;
  if (!isDigit(a, at) || !isDigit(b, at)) {
    // One number may be the beginning of the other: [1] and [10].
    if (isDigit(a, at - 1) && isDigit(a, at) !== isDigit(b, at)) return isDigit(a, at) ? 1 : -1;
    return at < a.length && at < b.length ? a.charCodeAt(at) - b.charCodeAt(at) : a.length - b.length;
  }
  const digitsA = digitsFrom(a, at);
  const digitsB = digitsFrom(b, at);
  return digitsA === digitsB ? a.charCodeAt(at) - b.charCodeAt(at) : digitsA - digitsB;
}

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function digitsFrom(text: string, from: number): number {
  let at = from;
  while (isDigit(text, at)) at += 1;
  return at - from;
}
