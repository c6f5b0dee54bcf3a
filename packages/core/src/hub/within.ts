import type { Clock } from "../ports/clock.ts";

/** Resolves when it is done, or after so long at the latest. */
export async function within(clock: Clock, limitMs: number, done: Promise<void>): Promise<void> {
  const patience = Promise.withResolvers<void>();
  const stop = clock.after(limitMs, patience.resolve);
  await Promise.race([done, patience.promise]);
  stop();
}
