/** Waits, and rejects with the signal's reason when that comes first. */
export async function unlessAborted(awaited: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return awaited;
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  signal.addEventListener("abort", giveUp, { once: true });
  try {
    await Promise.race([awaited, promise]);
  } finally {
    signal.removeEventListener("abort", giveUp);
  }
}
