/** Written last: a folder without it was never finished. */
export const READY_FILE = "ready.json";
