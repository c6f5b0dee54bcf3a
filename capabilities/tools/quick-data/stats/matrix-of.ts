import type { Pair } from "./correlate.ts";

/** Each column against each; null where a correlation cannot be told. */
export function matrixOf(names: readonly string[], pairs: readonly Pair[]): (number | null)[][] {
  const found = new Map(pairs.flatMap(({ x, y, r }) => [[`${x}\0${y}`, r] as const, [`${y}\0${x}`, r] as const]));
  return names.map((row) => names.map((column) => (row === column ? 1 : (found.get(`${row}\0${column}`) ?? null))));
}
