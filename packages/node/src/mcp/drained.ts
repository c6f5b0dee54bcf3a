import type { Writable } from "node:stream";

/** Resolves when the stream takes more, or never will; however many wait, it is listened to once. */
export function createDrained(output: Writable): () => Promise<void> {
  let waiting: Promise<void> | undefined;
  return () => {
    if (!output.writableNeedDrain || output.destroyed) return DONE;
    waiting ??= new Promise((resolve) => {
      const done = (): void => {
        for (const event of EVENTS) output.off(event, done);
        waiting = undefined;
        resolve();
      };
      for (const event of EVENTS) output.on(event, done);
    });
    return waiting;
  };
}

const EVENTS = ["drain", "close", "error"] as const;
const DONE = Promise.resolve();
