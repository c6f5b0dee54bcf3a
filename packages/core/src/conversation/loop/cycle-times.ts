/** So many cycles are remembered. */
const REMEMBERED = 1_000;

export type CycleTimes = {
  readonly add: (ms: number) => void;
  /** Of the last ones, in milliseconds. */
  readonly summary: () => { readonly p50: number; readonly p99: number; readonly max: number };
};

/** How long the loop takes from being woken to having begun what there is to begin. */
export function createCycleTimes(): CycleTimes {
  const times: number[] = [];
  let next = 0;
  return {
    add: (ms) => {
      times[next] = ms;
      next = (next + 1) % REMEMBERED;
    },
    summary: () => {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
      return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
    },
  };
}
