/** Least squares of a series by its place: `slope` per place. */
export function trendOf(values: readonly (readonly [at: number, value: number])[]): {
  readonly slope: number;
  readonly rSquared: number;
} | null {
  const n = values.length;
  if (n < 3) return null;
  const meanAt = values.reduce((sum, [at]) => sum + at, 0) / n;
  const meanValue = values.reduce((sum, [, value]) => sum + value, 0) / n;
  let [together, squaresAt, squaresValue] = [0, 0, 0];
  for (const [at, value] of values) {
    together += (at - meanAt) * (value - meanValue);
    squaresAt += (at - meanAt) ** 2;
    squaresValue += (value - meanValue) ** 2;
  }
  if (squaresAt === 0) return null;
  const slope = together / squaresAt;
  return { slope, rSquared: squaresValue === 0 ? 0 : together ** 2 / (squaresAt * squaresValue) };
}

/** How a series goes with itself so many places earlier; null when it is too short or does not vary. */
export function autocorrelation(values: readonly (number | null)[], lag: number): number | null {
  const present = values.filter((value) => value !== null);
  if (present.length < lag * 2 + 2) return null;
  const mean = present.reduce((sum, value) => sum + value, 0) / present.length;
  const square = present.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  if (square === 0) return null;
  let together = 0;
  for (const [at, value] of values.entries()) {
    const earlier = values[at - lag];
    if (value !== null && earlier !== null && earlier !== undefined) together += (value - mean) * (earlier - mean);
  }
  return together / square;
}
