/*
 * Spec 5's auto-discovery: where no tool fits what somebody wants, the sub-agent searches the registry for servers that
 * have one, unasked. What it finds is only named: adding a server stays a request of its own, and a person's yes.
 */
import { toErgonError } from "../../errors/ergon-error.ts";
import type { EnergyRegulator } from "../../energy/regulator.ts";
import { showHidden } from "../../approvals/hidden-text.ts";
import type { SubAgent } from "../../hub/sub-agent.ts";
import { isoTime, type Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";
import type { ConversationRecord } from "../../schema/conversation.ts";
import type { SubAgentMessage } from "../../schema/hub.ts";
import { FoundServer } from "../../schema/registry.ts";
import { z } from "zod";

/** A search may cost as much as this: with less, nobody searches unasked. */
export const LEAST_LEVEL = 50;
const MAX_WORDS_CHARS = 500;
const MAX_NAMED = 5;
const MAX_DESCRIPTION = 120;

export type Finding = {
  readonly conversationId: string;
  readonly owner: string;
  readonly text: string;
  /** The conversation goes on with it. */
  readonly takesUp?: true;
};

export type Discovery = {
  readonly isOn: () => boolean;
  /** Once for each message at most, and one search at a time. */
  readonly search: (record: ConversationRecord, words: string) => void;
  /** What the end of a search says to the conversation for which it was made; undefined for everything else. */
  readonly finding: (message: SubAgentMessage) => Finding | undefined;
};

export function createDiscovery(deps: {
  readonly subAgent: Pick<SubAgent, "sendRequest" | "getStatus"> | undefined;
  readonly mayDiscover: (() => boolean) | undefined;
  readonly regulator: Pick<EnergyRegulator, "getEnergy">;
  readonly clock: Clock;
  readonly logger: Logger;
}): Discovery {
  const { subAgent, mayDiscover = () => false, regulator, clock, logger } = deps;
  let underWay: string | undefined;

  const isOn = (): boolean => subAgent !== undefined && mayDiscover();
  return {
    isOn,
    search: ({ id, owner, lastMessage }, words) => {
      const query = words.slice(0, MAX_WORDS_CHARS).trim();
      if (subAgent === undefined || !isOn() || underWay !== undefined) return;
      if (query === "" || regulator.getEnergy() < LEAST_LEVEL) return;
      // The id says for which conversation it is, to whichever process hears of its end; and it is searched once.
      const requestId = `${PREFIX}${id}:${String(lastMessage)}`;
      underWay = requestId;
      const request = { id: requestId, type: "search_servers", params: { query, limit: MAX_NAMED } } as const;
      subAgent.sendRequest({ ...request, timestamp: isoTime(clock), priority: "low" }, owner).then(
        () => {
          // Searched before, for the same message: nothing more is told of it.
          if (!OPEN.has(subAgent.getStatus(requestId)?.state ?? "")) underWay = undefined;
        },
        (thrown: unknown) => {
          underWay = undefined;
          logger.warn({ error: toErgonError(thrown, "not_available").toJSON() }, "No server was searched.");
        },
      );
    },
    finding: ({ type, requestId, owner, data }) => {
      if (!requestId.startsWith(PREFIX) || type === "status_update") return undefined;
      if (requestId === underWay) underWay = undefined;
      const ended = Ended.safeParse(data);
      const conversationId = requestId.slice(PREFIX.length, requestId.lastIndexOf(":"));
      if (type !== "completion" || !ended.success) return undefined;
      return { conversationId, owner, text: sentence(ended.data.result.servers) };
    },
  };
}

const PREFIX = "discover:";
const OPEN = new Set<string>(["queued", "in_progress"]);
const Ended = z.object({ result: z.object({ servers: z.array(FoundServer) }) });

function sentence(servers: readonly FoundServer[]): string {
  if (servers.length === 0) return "The registry of MCP servers knows none for this.";
  const named = servers.slice(0, MAX_NAMED).map(({ name, description }) => {
    const said = showHidden(description);
    return `${showHidden(name)} (${said.length <= MAX_DESCRIPTION ? said : `${said.slice(0, MAX_DESCRIPTION)}…`})`;
  });
  return `The registry of MCP servers has for this: ${named.join("; ")}. Nothing is installed. To add one: mcp_request_server_addition with its name.`;
}
