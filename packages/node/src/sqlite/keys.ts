/** SQLite sorts every blob after every text: as an upper bound it lies behind all positions and scopes. */
export const AFTER_ALL_TEXT = Uint8Array.of(0);

/** Event numbers are noted for a session in runs of this many. */
export const SPAN_EVENTS = 128;

export function spanOf(seq: number): number {
  return Math.floor(seq / SPAN_EVENTS);
}
