/*
 * Ergon's model, lent to a server that the configuration trusts (`sampling/createMessage`).
 *
 * L1  Only while the server is called: the time that the model takes is the call's, and so is what it costs. What is
 *     still asked when the call ends is taken back.
 * L2  Texts in, text out, both bounded; so many times for one call. Nothing else of the conversation goes along.
 * L3  What opens doors is hidden from the model, too.
 */
import type { ChatModel } from "@ergon/core";
import { hubError } from "@ergon/core/hub";

export type Sample = (request: SampleRequest, signal: AbortSignal) => Promise<SampleResult>;

/** The protocol's; the SDK has them as deprecated. */
type SampleRequest = {
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: Block | readonly Block[] }[];
  readonly systemPrompt?: string | undefined;
  readonly maxTokens: number;
  readonly temperature?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
};
type Block = { readonly type: string; readonly text?: unknown };
type SampleResult = {
  role: "assistant";
  content: { type: "text"; text: string };
  model: string;
  stopReason: "maxTokens" | "endTurn";
};

export type Sampling = {
  readonly during: <R>(call: () => Promise<R>) => Promise<R>;
  readonly sample: Sample;
};

export type SamplingDeps = {
  readonly serverId: string;
  readonly model: ChatModel;
  readonly redact: (text: string) => string;
  readonly note: (text: string) => void;
};

export const MAX_SAMPLES_PER_CALL = 8;
export const MAX_SAMPLE_TOKENS = 2_000;
/** Of all messages together. */
export const MAX_SAMPLE_CHARS = 64 * 1024;

type Borrowing = { samples: number; readonly ended: AbortController };

export function createSampling({ serverId, model, redact, note }: SamplingDeps): Sampling {
  const underWay = new Set<Borrowing>();

  return {
    during: async (call) => {
      const borrowing: Borrowing = { samples: 0, ended: new AbortController() };
      underWay.add(borrowing);
      try {
        return await call();
      } finally {
        underWay.delete(borrowing);
        borrowing.ended.abort();
      }
    },
    sample: async (request, signal) => {
      const { systemPrompt, maxTokens, temperature, stopSequences = [] } = request;
      const messages = [
        ...(systemPrompt === undefined ? [] : [{ role: "system" as const, content: redact(systemPrompt) }]),
        ...request.messages.map(({ role, content }) => ({ role, content: redact(textOf(content)) })),
      ];
      const chars = messages.reduce((sum, { content }) => sum + content.length, 0);
      if (chars > MAX_SAMPLE_CHARS)
        throw refused(`it sent ${String(chars)} characters; ${String(MAX_SAMPLE_CHARS)} is the limit.`);
      if (stopSequences.length > 0) throw refused("it sent stop sequences, which not every model has.");
      const { ended } = borrow();
      const reply = await model.generate({
        messages,
        maxOutputTokens: Math.max(1, Math.min(maxTokens, MAX_SAMPLE_TOKENS)),
        signal: AbortSignal.any([signal, ended.signal]),
        ...(temperature === undefined ? {} : { temperature }),
      });
      const { inputTokens, outputTokens } = reply.usage;
      note(`It was lent ${reply.model}: ${String(inputTokens)} tokens in, ${String(outputTokens)} out.\n`);
      const stopReason = reply.truncated ? "maxTokens" : "endTurn";
      return { role: "assistant", content: { type: "text", text: reply.text }, model: reply.model, stopReason };
    },
  };

  /** Over pipes the request does not say which call it belongs to; the oldest that has not had enough pays. */
  function borrow(): Borrowing {
    if (underWay.size === 0) throw refused("it was not called; a model is lent only to answer a call.");
    const found = [...underWay].find(({ samples }) => samples < MAX_SAMPLES_PER_CALL);
    if (found === undefined) throw refused(`it was lent ${String(MAX_SAMPLES_PER_CALL)} times for this call already.`);
    found.samples += 1;
    return found;
  }

  function refused(reason: string): Error {
    const message = `The model is not lent to "${serverId}": ${reason}`;
    note(`${message}\n`);
    return hubError("server_refused", message, { details: { serverId } });
  }

  function textOf(content: Block | readonly Block[]): string {
    return [content]
      .flat()
      .map(({ type, text }) => {
        if (type === "text" && typeof text === "string") return text;
        throw refused(`it sent a block of the type "${type}"; texts are all that is lent for.`);
      })
      .join("\n");
  }
}
