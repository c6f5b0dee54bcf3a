import type { ChatModel, ChatReply, ChatRequest, Clock, ErgonError, JsonObject } from "@ergon/core";
import { modelError } from "@ergon/core/schema";
import { DEFAULT_MODEL_TIMEOUT_MS, DEFAULT_OUTPUT_TOKENS } from "@ergon/core/store-kit";
import { boundedFetch } from "./bounded-fetch.ts";
import type { ModelService } from "./choose-model.ts";
import { COMPATIBLE_NAME, type LoadedProvider, loadProvider, loadSdk } from "./load-provider.ts";
import { type ModelFailure, modelFailure } from "./model-failure.ts";

/** Requests that failed for a reason that may pass are made again, this often in all. */
export const MAX_ATTEMPTS = 3;
/** A service that wants a longer pause is not waited for. */
export const MAX_PAUSE_MS = 20_000;
const FIRST_PAUSE_MS = 500;

export type AiModelDeps = {
  readonly service: ModelService;
  readonly clock: Clock;
  readonly fetch?: typeof globalThis.fetch;
  /** The first pause between tries, where the service names none. */
  readonly firstPauseMs?: number;
};

/** A model of any provider, over the Vercel AI SDK. Nothing of it is loaded before the first request. */
export function createAiModel(deps: AiModelDeps): ChatModel {
  const { service, clock, firstPauseMs = FIRST_PAUSE_MS } = deps;
  const { id } = service;
  let loading: Promise<LoadedProvider> | undefined;

  return {
    id,
    generate: async (request) => {
      const { signal, timeoutMs = DEFAULT_MODEL_TIMEOUT_MS } = request;
      const deadlineMs = clock.monotonic() + timeoutMs;
      const limit = new AbortController();
      const stop = clock.after(timeoutMs, () => limit.abort());
      const either = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
      try {
        return await attempts(request, either, deadlineMs);
      } catch (thrown) {
        if (signal?.aborted === true)
          throw modelError("cancelled", `${id} was not waited for any longer.`, { cause: thrown });
        if (!limit.signal.aborted) throw thrown;
        throw modelError("model_timeout", `${id} did not answer within ${String(timeoutMs)} ms.`, {
          retryable: true,
          cause: thrown,
        });
      } finally {
        stop();
      }
    },
  };

  async function attempts(request: ChatRequest, signal: AbortSignal, deadlineMs: number): Promise<ChatReply> {
    let withSchema = request.schema !== undefined;
    for (let attempt = 1; ; attempt += 1) {
      signal.throwIfAborted();
      const failure = await once(request, withSchema, signal).catch((thrown: unknown) =>
        modelFailure(thrown, id, clock.now()),
      );
      if (!("error" in failure)) return failure;
      if (signal.aborted) throw failure.error;
      if (failure.mayBeTheSchema && withSchema) {
        withSchema = false;
        continue;
      }
      await pauseBefore(failure, attempt, signal, deadlineMs);
    }
  }

  /** Throws the failure itself when another try would not help, or not in time. */
  async function pauseBefore(
    { error, retryAfterMs }: ModelFailure,
    attempt: number,
    signal: AbortSignal,
    deadlineMs: number,
  ): Promise<void> {
    if (!error.retryable || attempt >= MAX_ATTEMPTS) throw error;
    const pauseMs = retryAfterMs ?? firstPauseMs * 2 ** (attempt - 1);
    if (pauseMs > MAX_PAUSE_MS || clock.monotonic() + pauseMs >= deadlineMs) throw error;
    await clock.sleep(pauseMs, signal);
  }

  async function once(request: ChatRequest, withSchema: boolean, signal: AbortSignal): Promise<ChatReply> {
    // What the SDK would say on the console is nobody's answer.
    globalThis.AI_SDK_LOG_WARNINGS = false;
    loading ??= loadProvider(service, boundedFetch(deps.fetch));
    const [{ generateText, jsonSchema, NoObjectGeneratedError, Output }, provider] = await Promise.all([
      loadSdk(),
      loading,
    ]);
    const { messages, schema, temperature, maxOutputTokens = DEFAULT_OUTPUT_TOKENS } = request;
    const system = messages
      .filter(({ role }) => role === "system")
      .map(({ content }) => content)
      .join("\n\n");
    const said = messages.flatMap(({ role, content }) => (role === "system" ? [] : [{ role, content }]));
    try {
      const result = await generateText({
        model: provider.chat(),
        ...(system === "" ? {} : { instructions: system }),
        messages: said,
        maxRetries: 0,
        maxOutputTokens,
        abortSignal: signal,
        ...(temperature === undefined ? {} : { temperature }),
        ...(withSchema ? { output: Output.object({ schema: jsonSchema(schema as JsonObject), name: "answer" }) } : {}),
        // Strict schemas leave no room for arguments whose names only the tool knows.
        providerOptions: { openai: { strictJsonSchema: false }, [COMPATIBLE_NAME]: { strictJsonSchema: false } },
      });
      return replyOf(result.text, result.usage, result.finishReason, result.finalStep.response.modelId);
    } catch (thrown) {
      // It answered, only not in the wished form: its reader decides what that is worth.
      if (!NoObjectGeneratedError.isInstance(thrown) || thrown.text === undefined) throw thrown;
      return replyOf(thrown.text, thrown.usage, thrown.finishReason, thrown.response?.modelId);
    }
  }

  function replyOf(
    text: string,
    usage: { readonly inputTokens?: number | undefined; readonly outputTokens?: number | undefined } | undefined,
    finishReason: string | undefined,
    model: string | undefined,
  ): ChatReply {
    if (text.trim() === "") throw nothing(finishReason);
    return {
      text,
      model: model === undefined || model === "" ? id : model,
      usage: { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 },
      truncated: finishReason === "length",
    };
  }

  function nothing(finishReason: string | undefined): ErgonError {
    const why = finishReason === undefined || finishReason === "stop" ? "" : ` (${finishReason})`;
    return modelError("model_answer_invalid", `${id} answered nothing${why}.`);
  }
}
