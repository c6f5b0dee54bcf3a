/** SQLite sorts every blob after every text: as an upper bound it lies behind all positions and scopes. */
export const AFTER_ALL_TEXT = Uint8Array.of(0);
