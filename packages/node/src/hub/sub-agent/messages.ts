import type { SubAgentMessage } from "@ergon/core/hub";

/** Messages that nobody fetched; past this many, updates go first, then the oldest. */
export const MAX_MESSAGES = 1_000;

export type Messages = {
  readonly add: (message: SubAgentMessage) => void;
  /** All of them, oldest first; they are the caller's from then on. */
  readonly take: () => readonly SubAgentMessage[];
};

export function createMessages(): Messages {
  let waiting: SubAgentMessage[] = [];
  return {
    add: (message) => {
      waiting.push(message);
      if (waiting.length <= MAX_MESSAGES) return;
      const update = waiting.findIndex(({ type }) => type === "status_update");
      waiting.splice(Math.max(0, update), 1);
    },
    take: () => {
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}
