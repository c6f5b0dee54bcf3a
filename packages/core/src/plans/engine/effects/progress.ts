import { toErgonError } from "../../../errors/ergon-error.ts";
import { isoTime, type Clock } from "../../../ports/clock.ts";
import type { Logger } from "../../../ports/logger.ts";
import type { StateStore } from "../../../ports/state-store.ts";
import { redactJson } from "../../../schema/values/redact.ts";
import type { ProgressUpdate } from "../../../schema/tool.ts";

/** One call's progress is kept at most this often; what a screen shows in between is not worth a row. */
export const PROGRESS_INTERVAL_MS = 500;

/** Tells a call's progress as events. It is worth telling, not too often, and not worth failing for. */
export function progressInto(
  { store, clock, logger }: { readonly store: StateStore; readonly clock: Clock; readonly logger: Logger },
  call: { readonly owner: string; readonly sessionId: string; readonly stepId: string; readonly position: string },
): (update: ProgressUpdate) => void {
  const { owner, sessionId, stepId, position } = call;
  let nextMs = -Infinity;
  return (update) => {
    const nowMs = clock.monotonic();
    if (nowMs < nextMs) return;
    nextMs = nowMs + PROGRESS_INTERVAL_MS;
    const event = {
      type: "step-progressed" as const,
      at: isoTime(clock),
      data: redactJson({ stepId, position, ...update }),
    };
    store.commit({ sessionId, owner, events: [event] }).catch((thrown: unknown) => {
      const error = toErgonError(thrown, "store_unavailable").toJSON();
      logger.warn({ sessionId, stepId, error }, "A progress event could not be written.");
    });
  };
}
