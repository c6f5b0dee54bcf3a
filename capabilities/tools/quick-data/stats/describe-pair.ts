import type { Pair } from "./correlate.ts";

/** "delivery_days and satisfaction move in opposite directions (r = -0.83, 691 rows)" */
export function describePair({ x, y, r, n }: Pick<Pair, "x" | "y" | "r" | "n">): string {
  const together = r === null ? "cannot be compared" : r < 0 ? "move in opposite directions" : "rise together";
  return `${x} and ${y} ${together} (r = ${shown(r)}, ${String(n)} rows)`;
}

export function shown(r: number | null): string {
  // No minus before what is rounded to nothing.
  return r === null ? "unknown" : (Math.round(r * 100) / 100 + 0).toFixed(2).replace("-", "−");
}
