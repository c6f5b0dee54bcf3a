const WIDTH = 10;

/** A level from 0 to 100 as a row of blocks; below 0 it is empty. */
export function energyBar(level: number): string {
  const full = Math.round((Math.max(0, Math.min(100, level)) / 100) * WIDTH);
  return `${"█".repeat(full)}${"░".repeat(WIDTH - full)}`;
}
