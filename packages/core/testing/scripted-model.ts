import { modelError } from "../src/errors/model.ts";
import { type ChatModel, type ChatRequest, DEFAULT_MODEL_TIMEOUT_MS } from "../src/ports/chat-model.ts";
import { createSystemClock } from "../src/memory/clock.ts";

/** What a scripted model does with one request. */
export type ScriptedReply =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly delayMs?: number;
      readonly outputTokens?: number;
      /** The reply was cut at the output limit. */
      readonly truncated?: boolean;
    }
  /** An HTTP status of the service. */
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  /** An answer without a word in it. */
  | { readonly kind: "nothing" }
  /** Never answers, and keeps the line open. */
  | { readonly kind: "silence" }
  /** Answers without end. */
  | { readonly kind: "endless" };

/** Takes the script's replies one after the other; the last one stays. */
export function createScript(replies: readonly ScriptedReply[]): {
  readonly next: () => ScriptedReply;
  readonly asked: () => number;
} {
  let asked = 0;
  return {
    next: () => {
      const reply = replies[Math.min(asked, replies.length - 1)] ?? { kind: "nothing" };
      asked += 1;
      return reply;
    },
    asked: () => asked,
  };
}

export type ScriptedModel = ChatModel & { readonly requests: readonly ChatRequest[] };

/** A model that says what a script says: for tests of what asks models, where no wire is in question. */
export function createScriptedModel(replies: readonly (ScriptedReply | string)[]): ScriptedModel {
  const script = createScript(
    replies.map((reply) => (typeof reply === "string" ? { kind: "text", text: reply } : reply)),
  );
  const requests: ChatRequest[] = [];
  const clock = createSystemClock();
  return {
    id: "scripted/model",
    requests,
    generate: async (request) => {
      requests.push(request);
      const { signal, timeoutMs = DEFAULT_MODEL_TIMEOUT_MS } = request;
      const gone = (): boolean => signal?.aborted === true;
      if (gone()) throw cancelled();
      const reply = script.next();
      switch (reply.kind) {
        case "text":
          if (reply.delayMs !== undefined) await clock.sleep(Math.min(reply.delayMs, timeoutMs), signal);
          if (gone()) throw cancelled();
          if (reply.delayMs !== undefined && reply.delayMs >= timeoutMs) throw timedOut(timeoutMs);
          return {
            text: reply.text,
            model: "scripted/model",
            usage: { inputTokens: request.messages.length, outputTokens: reply.outputTokens ?? 1 },
            truncated: reply.truncated ?? false,
          };
        case "status":
          throw modelError(
            reply.status === 429 ? "model_rate_limited" : reply.status >= 500 ? "model_unavailable" : "model_refused",
            `The model answered ${String(reply.status)}.`,
            { retryable: reply.status === 429 || reply.status >= 500 },
          );
        case "nothing":
        case "endless":
          throw modelError("model_answer_invalid", "The model's answer cannot be used.");
        case "silence":
          await clock.sleep(timeoutMs, signal);
          throw gone() ? cancelled() : timedOut(timeoutMs);
      }
    },
  };
}

function cancelled(): Error {
  return modelError("cancelled", "The model was not waited for any longer.");
}

function timedOut(timeoutMs: number): Error {
  return modelError("model_timeout", `The model did not answer within ${String(timeoutMs)} ms.`, { retryable: true });
}
