/** Time arrives through here only, so that tests and replays own it. */
export type Clock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
};

export function isoTime(clock: Clock): string {
  return new Date(clock.now()).toISOString();
}
