import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ProgressUpdate } from "../../schema/tool.ts";

/** A tool that reports more often is heard this often. */
export const MAX_PROGRESS_PER_SECOND = 10;
export const MAX_PROGRESS_MESSAGE = 500;

export type ProgressSink = {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly report: (update: ProgressUpdate) => void;
};

/** What a tool may say about its progress at any time and as often as it likes: bounded, cleaned, and never throwing. */
export function createProgress({ clock, logger, report }: ProgressSink): (update: ProgressUpdate) => void {
  let windowMs = Number.NEGATIVE_INFINITY;
  let heard = 0;
  return (update) => {
    const now = clock.monotonic();
    if (now - windowMs >= 1000) {
      windowMs = now;
      heard = 0;
    }
    if (heard >= MAX_PROGRESS_PER_SECOND) return;
    heard += 1;
    try {
      const clean = cleaned(update);
      if (clean !== undefined) report(clean);
    } catch (thrown) {
      logger.warn(
        { reason: thrown instanceof Error ? thrown.message : "unknown" },
        "A progress report could not be passed on.",
      );
    }
  };
}

function cleaned(update: unknown): ProgressUpdate | undefined {
  if (typeof update !== "object" || update === null) return undefined;
  const { fraction, message } = update as { readonly fraction?: unknown; readonly message?: unknown };
  const clean = {
    ...(typeof fraction === "number" && !Number.isNaN(fraction)
      ? { fraction: Math.min(1, Math.max(0, fraction)) }
      : {}),
    ...(typeof message === "string" ? { message: message.slice(0, MAX_PROGRESS_MESSAGE) } : {}),
  };
  return Object.keys(clean).length === 0 ? undefined : clean;
}
