import type { ChatMessage } from "../schema/mcp-loop.ts";
import type { JsonSchema } from "../schema/values/json.ts";

/*
 * A language model, asked one question at a time.
 *
 * M1  `generate` settles by `timeoutMs` at the latest, and at once when the signal aborts (`cancelled`).
 * M2  What goes wrong has a code: `model_timeout`, `model_unavailable` (the service), `model_rate_limited`,
 *     `model_refused` (the key, the request), `model_answer_invalid` (nothing, or without end). What may pass is tried
 *     again by the model itself, within its own bounds, before it is thrown.
 * M3  A reply has text, and not more of it than was asked for.
 * M4  A schema is a wish: what came is returned as it came, and its reader checks it.
 */
export type ChatModel = {
  /** `provider/model`, as traces and prompts' budgets name it. */
  readonly id: string;
  generate(request: ChatRequest): Promise<ChatReply>;
};

export type ChatRequest = {
  readonly messages: readonly ChatMessage[];
  /** The form that the reply's JSON should have; its root is an object. */
  readonly schema?: JsonSchema;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
};

export type ChatReply = {
  readonly text: string;
  /** What the service says answered; it may name a version. */
  readonly model: string;
  readonly usage: TokenUsage;
  /** The reply was cut at `maxOutputTokens`. */
  readonly truncated: boolean;
};

export type TokenUsage = { readonly inputTokens: number; readonly outputTokens: number };

/** For requests that name no time limit of their own. */
export const DEFAULT_MODEL_TIMEOUT_MS = 60_000;
/** For requests that name no limit of their own; spec 1's. */
export const DEFAULT_OUTPUT_TOKENS = 1_000;
