// The same figures by another way: textbook formulas over arrays, two passes, no database.

export function pearson(xs: readonly (number | null)[], ys: readonly (number | null)[]): { r: number; n: number } {
  const both = xs.flatMap((x, at) => {
    const y = ys[at];
    return x === null || y === null || y === undefined ? [] : [[x, y] as const];
  });
  const [meanX, meanY] = [mean(both.map(([x]) => x)), mean(both.map(([, y]) => y))];
  let [together, squareX, squareY] = [0, 0, 0];
  for (const [x, y] of both) {
    together += (x - meanX) * (y - meanY);
    squareX += (x - meanX) ** 2;
    squareY += (y - meanY) ** 2;
  }
  return { r: together / Math.sqrt(squareX * squareY), n: both.length };
}

export function ranks(values: readonly number[]): number[] {
  return values.map((value) => {
    const [below, same] = [
      values.filter((other) => other < value).length,
      values.filter((other) => other === value).length,
    ];
    return below + (same + 1) / 2;
  });
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1));
}

/** Between the two neighbours, in proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN];
  return low + (high - low) * (place - Math.floor(place));
}
