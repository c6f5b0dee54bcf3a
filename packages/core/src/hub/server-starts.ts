import type { Clock } from "../ports/clock.ts";
import type { McpConnection } from "../ports/mcp-connector.ts";
import { within } from "./within.ts";

/** So many servers are started at once; the rest wait their turn. */
export const START_CONCURRENCY = 8;
/** One that takes longer than this to start no longer keeps the next from starting. */
const SLOW_START_MS = 5_000;

export type ServerStarts = {
  readonly add: (connection: McpConnection) => void;
  /** It need not start any more. */
  readonly drop: (connection: McpConnection) => void;
  readonly clear: () => void;
};

/** Servers start side by side, in the order in which they were asked for. */
export function createServerStarts(clock: Clock): ServerStarts {
  const queue = new Set<McpConnection>();
  let starting = 0;

  function startNext(): void {
    for (const next of queue) {
      if (starting >= START_CONCURRENCY) return;
      queue.delete(next);
      starting += 1;
      next.start();
      void within(clock, SLOW_START_MS, next.settled()).then(() => {
        starting -= 1;
        startNext();
      });
    }
  }

  return {
    add: (connection) => {
      queue.add(connection);
      startNext();
    },
    drop: (connection) => void queue.delete(connection),
    clear: () => queue.clear(),
  };
}
