/** How long to wait before a server is tried again: longer each time, never longer than the cap, for ever. */
export const FIRST_DELAY_MS = 1_000;
export const MAX_DELAY_MS = 300_000;
/** So that servers that fell together do not come back together. */
export const JITTER = 0.2;

/** `failures` counts those in a row, the one just seen included; `chance` is from 0 up to 1. */
export function backoffMs(failures: number, chance: number): number {
  const doublings = Math.min(Math.max(0, failures - 1), MAX_DOUBLINGS);
  const wait = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** doublings);
  return Math.round(wait * (1 - JITTER * chance));
}

const MAX_DOUBLINGS = Math.ceil(Math.log2(MAX_DELAY_MS / FIRST_DELAY_MS));
