import { sha256Hex } from "../schema/values/hash.ts";
import type { SubAgentMessage, SubAgentRequest, SubAgentStatus } from "../schema/hub.ts";

/*
 * Spec 5's sub-agent, as the loop that leads it sees it. It works beside the loop, on servers and their configuration;
 * it knows nothing of the energy pool and of conversations.
 *
 * A1  No method waits for work: each answers from what is known now. What a request comes to is told by messages.
 * A2  It works only between `start` and `stop`; what was under way at `stop` is queued again or failed, never lost.
 * A3  `getSubAgentEnergyConsumption` gives each unit once: what was spent since it was last asked.
 * A4  `pollMessages` gives each message once, oldest first; what nobody fetches is bounded, `completion` and `error`
 *     are the last to be dropped.
 * A5  Paused, it begins nothing more once its current action has ended; `resume` goes on where it stopped.
 */
export type SubAgent = {
  start(): void;
  stop(): Promise<void>;
  /** What becomes of the action under way: it ends by itself (`pause`), so does its request (`finish`), or it is cancelled. */
  pause(how: PauseMode): void;
  resume(): void;
  /**
   * Throws `input_invalid`, or `not_available` when too much is queued or nothing may be. Resolves once the request survives a
   * crash. It is the loop's own where no other principal is named.
   */
  sendRequest(request: SubAgentRequest, owner?: string): Promise<string>;
  /** Undefined for a request that there never was. */
  getStatus(requestId: string): SubAgentStatus | undefined;
  /** False when there is nothing to cancel: unknown, or ended. */
  cancelRequest(requestId: string, reason: string): boolean;
  pollMessages(): readonly SubAgentMessage[];
  getSubAgentEnergyConsumption(): number;
  hasActiveWork(): boolean;
  /** Calls back when there is something to poll, so that nobody has to look in vain. Returns how to stop that. */
  onNews(listener: () => void): () => void;
};

export type PauseMode = "pause" | "finish" | "cancel";
/** Spec 5's tools for the sub-agent, as models and MCP clients call them. */
export const SUB_AGENT_TOOLS = [
  "mcp_request_server_addition",
  "mcp_check_subagent_status",
  "mcp_cancel_subagent_work",
  "mcp_list_available_tools",
] as const;

/** The same call asks for the same thing. What a conversation asked for names it, so that it hears what came of it. */
export function additionId(idempotencyKey: string): string {
  const id = `sub_${sha256Hex(idempotencyKey).slice(0, ID_DIGITS)}`;
  const conversation = /^(conv_\w{1,64}):/.exec(idempotencyKey)?.[1];
  return conversation === undefined ? id : `${id}.${conversation}`;
}

export function conversationOf(requestId: string): string | undefined {
  return /^sub_[0-9a-f]+\.(conv_\w+)$/.exec(requestId)?.[1];
}

const ID_DIGITS = 24;
