/*
 * Calls that may be made only once, of servers that ask in the middle of a call. What such a server did before it asked
 * it would do again, so its call is not repeated but kept open: whoever made it hears `input_required`, and when it is
 * made again under its name, the answer goes into the call that is still open.
 *
 * O1  Under one name a call is sent once. When the answer finds it open no longer, its outcome is unknown.
 * O2  While a person is asked, the server's time limit stands still; what bounds the whole call does not.
 * O3  An open call keeps its turn; so few of a server may be open that others get theirs. What it comes to while nobody
 *     looks is kept for whoever asks next.
 */
import { createHash } from "node:crypto";
import type { RequestOptions } from "@modelcontextprotocol/client";
import type { Json } from "@ergon/core";
import { gateError, type GivenAnswer, type Question } from "@ergon/core/schema";
import type { McpResult } from "@ergon/core/hub";
import { SERVER_SLOTS } from "./call-slots.ts";

/** Of one server, that have not ended: a quarter of its turns. */
export const MAX_OPEN_CALLS = SERVER_SLOTS.concurrency / 4;
/** Outcomes that nobody has asked for yet, of one server; the oldest makes room. */
export const MAX_UNHEARD_OUTCOMES = 64;
/** From the first question on; the connection bounds the call itself. */
export const MAX_KEPT_MS = 3_600_000;

export type OpenCall = {
  /** Aborts when whoever waits for the call gives it up. */
  readonly signal: AbortSignal;
  /** Whether one more question can be kept open. */
  readonly hasRoom: () => boolean;
  /** Whether it waits for an answer. */
  readonly isWaiting: () => boolean;
  /** How many questions it has asked so far. */
  readonly asked: () => number;
  readonly ask: (question: Question, withdrawn: AbortSignal) => Promise<Json>;
  /** Makes the call with a time limit that stands still while a question is open. */
  readonly within: <R>(options: RequestOptions, call: (options: RequestOptions) => Promise<R>) => Promise<R>;
};

export type OpenCalls = {
  readonly begin: (
    name: string,
    signal: AbortSignal | undefined,
    make: (open: OpenCall) => Promise<McpResult>,
  ) => Promise<McpResult>;
  /** Undefined when the newest answer is none to a question that was asked under this name. */
  readonly goOn: (
    name: string,
    signal: AbortSignal | undefined,
    answers: readonly GivenAnswer[],
  ) => Promise<McpResult> | undefined;
};

type OngoingCall = {
  readonly stopping: AbortController;
  readonly answer: Map<string, (input: Json) => void>;
  readonly unheard: Question[];
  asked: PromiseWithResolvers<void>;
  ended: Promise<McpResult>;
  isOver: boolean;
  timer?: NodeJS.Timeout;
};

export function createOpenCalls(parts: {
  readonly serverId: string;
  readonly inputRequired: (question: Question, until: string) => Error;
}): OpenCalls {
  const open = new Map<string, OngoingCall>();

  return {
    begin: (name, signal, make) => {
      if (open.has(name)) return Promise.reject(lost(parts.serverId));
      const { kept, call } = opened(name, () => open.has(name) || hasRoom());
      kept.ended = make(call).finally(() => (kept.isOver = true));
      kept.ended.catch(() => undefined);
      return attend(name, kept, signal);
    },
    goOn: (name, signal, answers) => {
      const last = answers.at(-1);
      if (last === undefined || !last.key.includes(`.${hashOf(name)}.`)) return undefined;
      const kept = open.get(name);
      if (kept === undefined) return Promise.reject(lost(parts.serverId));
      kept.answer.get(last.key)?.(last.input);
      return attend(name, kept, signal);
    },
  };

  function hasRoom(): boolean {
    return [...open.values()].filter(({ isOver }) => !isOver).length < MAX_OPEN_CALLS;
  }

  function forget(name: string): void {
    clearTimeout(open.get(name)?.timer);
    open.delete(name);
  }

  /** Until the call has ended or asks the next question. */
  async function attend(name: string, kept: OngoingCall, signal: AbortSignal | undefined): Promise<McpResult> {
    const stop = (): void => kept.stopping.abort(signal?.reason);
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      if (kept.unheard.length === 0) await Promise.race([kept.ended, kept.asked.promise]);
      kept.asked = Promise.withResolvers();
      const question = kept.isOver ? undefined : kept.unheard.shift();
      if (question !== undefined) throw keep(name, kept, question);
      forget(name);
      return await kept.ended;
    } catch (thrown) {
      if (kept.isOver) forget(name);
      throw thrown;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  function keep(name: string, kept: OngoingCall, question: Question): Error {
    if (!open.has(name)) {
      const [oldest, ...more] = [...open].filter(([, { isOver }]) => isOver);
      if (oldest !== undefined && more.length + 1 >= MAX_UNHEARD_OUTCOMES) forget(oldest[0]);
      open.set(name, kept);
      kept.timer = setTimeout(() => forget(name), MAX_KEPT_MS).unref();
    }
    const until = "It waits in the middle of its work, for an hour at most and as long as Ergon runs";
    return parts.inputRequired(question, ` (${until}; after that the outcome of this call is unknown.)`);
  }
}

function opened(name: string, hasRoom: () => boolean): { readonly kept: OngoingCall; readonly call: OpenCall } {
  const kept: OngoingCall = {
    stopping: new AbortController(),
    answer: new Map(),
    unheard: [],
    asked: Promise.withResolvers(),
    ended: Promise.reject(new Error("It has not begun.")),
    isOver: false,
  };
  kept.ended.catch(() => undefined);
  let count = 0;
  let restart = (): void => undefined;

  const call: OpenCall = {
    signal: kept.stopping.signal,
    hasRoom,
    isWaiting: () => kept.answer.size > 0,
    asked: () => count,
    ask: ({ key: content, ...question }, withdrawn) =>
      new Promise((resolve, reject) => {
        count += 1;
        const key = `${content}.${hashOf(name)}.${String(count)}`;
        const over = (): void => {
          kept.answer.delete(key);
          const at = kept.unheard.findIndex((one) => one.key === key);
          if (at >= 0) kept.unheard.splice(at, 1);
          restart();
        };
        kept.answer.set(key, (input) => {
          over();
          resolve(input);
        });
        const gone = (): void => {
          over();
          reject(new Error("The question was withdrawn."));
        };
        withdrawn.addEventListener("abort", gone, { once: true });
        kept.unheard.push({ ...question, key });
        restart();
        kept.asked.resolve();
      }),
    within: async (options, make) => {
      const { timeout, maxTotalTimeout, onprogress } = options;
      const ending = new AbortController();
      const stop = (): void => ending.abort(call.signal.reason);
      if (call.signal.aborted) stop();
      call.signal.addEventListener("abort", stop, { once: true });
      let timer: NodeJS.Timeout | undefined;
      restart = () => {
        clearTimeout(timer);
        if (kept.answer.size > 0 || timeout === undefined) return;
        timer = setTimeout(() => ending.abort(`it was silent for ${String(timeout)} ms`), timeout);
      };
      restart();
      const heard: RequestOptions["onprogress"] = (progress) => {
        restart();
        onprogress?.(progress);
      };
      try {
        return await make({
          ...options,
          signal: ending.signal,
          ...(maxTotalTimeout === undefined ? {} : { timeout: maxTotalTimeout }),
          ...(onprogress === undefined ? {} : { onprogress: heard }),
        });
      } finally {
        restart = () => undefined;
        clearTimeout(timer);
      }
    },
  };
  return { kept, call };
}

function hashOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url");
}

function lost(serverId: string): Error {
  const message = `The server "${serverId}" had asked something in the middle of this call, which is no longer open: Ergon or the server has ended meanwhile, or the answer came too late. It may have taken effect.`;
  return gateError("outcome_unknown", message, { details: { serverId } });
}
