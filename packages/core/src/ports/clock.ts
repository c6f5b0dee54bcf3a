/** Time arrives through here only, so that tests and replays own it. */
export type Clock = {
  /** Milliseconds since the epoch; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds since some fixed moment, fractions included; never goes back. Durations are measured with it. */
  monotonic(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `callback` once after `ms`, unless the returned function is called first. */
  after(ms: number, callback: () => void): () => void;
};

export function isoTime(clock: Pick<Clock, "now">): string {
  const ms = clock.now();
  if (ms === written.ms) return written.text;
  // Rows are written many to a second, and writing a date takes longer than most of what they say.
  const second = Math.floor(ms / 1_000);
  if (second !== written.second)
    written = { ...written, second, upToMs: new Date(second * 1_000).toISOString().slice(0, -4) };
  written.ms = ms;
  written.text = `${written.upToMs}${String(Math.floor(ms - second * 1_000)).padStart(3, "0")}Z`;
  return written.text;
}

let written = { ms: Number.NaN, text: "", second: Number.NaN, upToMs: "" };
