import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, type StoredEvent, toErgonError } from "@ergon/core";
import type { WithOwner } from "./with-owner.ts";

/** Between an end that was not wanted and the next try. */
const PAUSE_MS = 1_000;
/** Whoever waits for the beginning waits no longer than this: the owner may be on its way. */
const PATIENCE_MS = 5_000;

type Following = {
  readonly stop: () => void;
  /** From here on nothing is missed. */
  readonly begun: Promise<void>;
};

export type Follow = (owner: string, listener: (event: StoredEvent) => void) => Following;

/**
 * Follows a principal's events through whoever owns the folder, for as long as they are wanted, and goes on behind the
 * last one when the owner is another. It begins with `entered`: nobody enters the folder only to hear that nothing
 * happens there.
 */
export function followThrough(parts: {
  readonly reach: WithOwner;
  readonly entered: Promise<void>;
  readonly logger: Logger;
}): Follow {
  return (owner, listener) => {
    const over = new AbortController();
    const { signal } = over;
    const { promise, resolve } = Promise.withResolvers<void>();
    void go();
    const patience = sleep(PATIENCE_MS, undefined, { signal, ref: false }).catch(() => undefined);
    return { stop: () => over.abort(), begun: Promise.race([promise, patience]) };

    async function go(): Promise<void> {
      let afterSeq: number | "now" = "now";
      const onBegun = (seq: number): void => {
        afterSeq = seq;
        resolve();
      };
      await parts.entered;
      while (!signal.aborted) {
        try {
          await parts.reach({ repeatable: true }, async ({ engine }) => {
            for await (const event of engine.follow({ owner, afterSeq, signal, onBegun })) {
              afterSeq = event.seq;
              listener(event);
            }
          });
        } catch (thrown) {
          parts.logger.debug({ error: toErgonError(thrown, "internal").toJSON() }, "Events are followed again soon.");
        }
        await sleep(PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
      }
    }
  };
}
