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

export function isoTime(clock: Clock): string {
  const ms = clock.now();
  if (ms !== written.ms) written = { ms, text: new Date(ms).toISOString() };
  return written.text;
}

/** Many rows are written within one millisecond, and writing a date takes longer than most of what they say. */
let written = { ms: Number.NaN, text: "" };
