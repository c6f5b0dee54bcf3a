import { type ErgonError, isErgonError } from "@ergon/core";
import { gateError } from "@ergon/core/schema";
import { callFailure, type CallFailure, type Loss } from "./call-failure.ts";
import { createCallSlots, SERVER_SLOTS, type CallSlots } from "./call-slots.ts";
import type { CallsUnderWay } from "./calls-under-way.ts";
import type { ServerLink } from "../connection/connect-server.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** A connection, and what has been sent there. */
export type HeldLink = ServerLink & { readonly calls: CallsUnderWay };

export type CallTurnsDeps = {
  readonly serverId: string;
  readonly redact: (text: string) => string;
  readonly hubSlots: CallSlots;
  /** Resolves with the outcome of a start that is under way. */
  readonly starting: () => Promise<void> | undefined;
  /** Throws `server_down` when there is none. */
  readonly connected: () => HeldLink;
  readonly onLost: (link: HeldLink, loss: Loss, error: ErgonError) => void;
};

type Work<T> = (to: ServerLink) => Promise<T>;

/** Whatever is asked of one server, in turn, and with an error that says what became of it. */
export type CallTurns = <T>(signal: AbortSignal | undefined, work: Work<T>) => Promise<T>;

export function createCallTurns(deps: CallTurnsDeps): CallTurns {
  const { serverId, redact, hubSlots, starting, connected, onLost } = deps;
  const slots = createCallSlots(`The server "${serverId}"`, SERVER_SLOTS);

  return async (signal, work) => {
    try {
      const turn = slots.take(signal);
      const free = turn instanceof Promise ? await turn : turn;
      try {
        const first = await attempt(signal, work);
        if ("result" in first) return first.result;
        if (first.lost !== "session") throw first.error;
        const second = await attempt(signal, work);
        if ("result" in second) return second.result;
        throw second.error;
      } finally {
        free();
      }
    } catch (thrown) {
      if (signal?.aborted !== true || isErgonError(thrown)) throw thrown;
      const message = `The call to the server "${serverId}" was cancelled.`;
      throw gateError("cancelled", message, { cause: thrown, details: { serverId } });
    }
  };

  /**
   * Waits a little for a server that is starting. The hub's turn is asked for last: calls that wait for one server are in
   * nobody else's way.
   */
  async function attempt<T>(signal: AbortSignal | undefined, work: Work<T>): Promise<{ result: T } | CallFailure> {
    const start = starting();
    if (start !== undefined) await unlessAborted(start, signal);
    connected();
    const hubTurn = hubSlots.take(signal);
    const freeHub = hubTurn instanceof Promise ? await hubTurn : hubTurn;
    try {
      const link = connected();
      try {
        return { result: await link.calls.during(() => work(link)) };
      } catch (thrown) {
        signal?.throwIfAborted();
        const failure = await callFailure(thrown, { serverId, redact, link });
        if (failure.lost !== undefined) onLost(link, failure.lost, failure.error);
        return failure;
      }
    } finally {
      freeHub();
    }
  }
}
