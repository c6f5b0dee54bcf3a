import type { Json } from "../../schema/values/json.ts";
import type { SubAgentMessage } from "../../schema/hub.ts";

/** Of one principal, newest first. */
export const NEWS_KEPT = 20;
/** Of more principals than this, those who heard nothing for the longest time are forgotten. */
export const MAX_LISTENERS = 1_000;

export type SubAgentNews = {
  readonly add: (messages: readonly SubAgentMessage[]) => void;
  /** What the sub-agent reported of this principal's requests, newest first. */
  readonly of: (owner: string) => readonly Json[];
};

/** What the sub-agent reported, for the prompts of those who asked it. Of each request only how far it is now. */
export function createSubAgentNews(): SubAgentNews {
  const told = new Map<string, readonly SubAgentMessage[]>();
  return {
    add: (messages) => {
      for (const message of messages) {
        const { owner } = message;
        const before = (told.get(owner) ?? []).filter((known) => !isOutdated(known, message));
        told.delete(owner);
        told.set(owner, [message, ...before].slice(0, NEWS_KEPT));
      }
      for (const owner of [...told.keys()].slice(0, Math.max(0, told.size - MAX_LISTENERS))) told.delete(owner);
    },
    of: (owner) => (told.get(owner) ?? []).map(({ type, requestId, data }) => ({ type, requestId, data })),
  };
}

function isOutdated(known: SubAgentMessage, { requestId }: SubAgentMessage): boolean {
  return known.requestId === requestId && known.type === "status_update";
}
