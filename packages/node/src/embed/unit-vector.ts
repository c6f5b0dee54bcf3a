/** Enough digits to tell vectors apart, few enough to keep them short as text. */
const PRECISION = 1e6;

/** The same direction at length 1. */
export function unitVector(vector: readonly number[]): readonly number[] {
  const length = Math.hypot(...vector);
  if (length === 0 || !Number.isFinite(length)) return vector.map((_, at) => (at === 0 ? 1 : 0));
  return vector.map((value) => Math.round((value / length) * PRECISION) / PRECISION);
}
