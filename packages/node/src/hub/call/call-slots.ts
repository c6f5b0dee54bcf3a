import { hubError } from "@ergon/core/hub";

/** How many calls may be under way at once, and how many may wait for their turn. */
export type SlotLimits = { readonly concurrency: number; readonly queue: number };

export const SERVER_SLOTS: SlotLimits = { concurrency: 16, queue: 256 };
export const HUB_SLOTS: SlotLimits = { concurrency: 64, queue: 1_024 };

export type CallSlots = {
  /** Waits for its turn, in order; refuses at once with `server_busy` when too many wait. Rejects when aborted. */
  readonly take: (signal?: AbortSignal) => Promise<() => void> | (() => void);
  readonly busy: () => { readonly running: number; readonly waiting: number };
};

export function createCallSlots(whose: string, { concurrency, queue }: SlotLimits): CallSlots {
  const waiting = new Set<() => void>();
  let running = 0;

  function released(): () => void {
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const [next] = waiting;
      if (next === undefined) running -= 1;
      else next();
    };
  }

  return {
    busy: () => ({ running, waiting: waiting.size }),
    take: (signal) => {
      signal?.throwIfAborted();
      if (running < concurrency) {
        running += 1;
        return released();
      }
      if (waiting.size >= queue) {
        const message = `${whose} has ${String(running)} calls under way and ${String(waiting.size)} that wait; try again later.`;
        throw hubError("server_busy", message, { retryable: true, details: { running, waiting: waiting.size } });
      }
      return new Promise((resolve, reject) => {
        const turn = () => {
          waiting.delete(turn);
          signal?.removeEventListener("abort", givenUp);
          resolve(released());
        };
        const givenUp = () => {
          waiting.delete(turn);
          reject(signal?.reason instanceof Error ? signal.reason : new Error("The call was given up."));
        };
        waiting.add(turn);
        signal?.addEventListener("abort", givenUp, { once: true });
      });
    },
  };
}
