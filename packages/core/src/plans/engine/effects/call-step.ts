/*
 * What the gate is given of a step: to check it, and to make its call. The context, a logger and a way to report progress
 * are made only when somebody looks at them, which few tools do.
 */
import type { Logger } from "../../../ports/logger.ts";
import type { JsonObject } from "../../../schema/values/json.ts";
import type { GivenAnswer } from "../../../schema/question.ts";
import type { Caller, InvokeOptions, ToolCall } from "../../../tools/gate/call.ts";
import type { Infrastructure, ToolBlobs, ToolContext } from "../../../tools/tool.ts";

/** What the steps of one run have in common. */
export type StepCaller = {
  readonly caller: Caller;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly infrastructure: Infrastructure;
  readonly blobs: ToolBlobs;
};

type Asked = {
  readonly toolId: string;
  readonly args: JsonObject;
  readonly timeoutMs: number | undefined;
  readonly remainingUnits: number | undefined;
  readonly context: () => ToolContext;
};

export class StepCheck implements ToolCall {
  readonly toolId: string;
  readonly args: JsonObject;
  readonly caller: Caller;
  readonly sessionId: string;
  declare readonly timeoutMs?: number;
  declare readonly energy?: { readonly remaining: number };
  readonly #asked: Asked;

  constructor({ caller, sessionId }: StepCaller, asked: Asked) {
    this.toolId = asked.toolId;
    this.args = asked.args;
    this.caller = caller;
    this.sessionId = sessionId;
    if (asked.timeoutMs !== undefined) this.timeoutMs = asked.timeoutMs;
    if (asked.remainingUnits !== undefined) this.energy = { remaining: asked.remainingUnits };
    this.#asked = asked;
  }

  get context(): ToolContext {
    return this.#asked.context();
  }
}

type Made = {
  readonly idempotencyKey: string;
  readonly answers: readonly GivenAnswer[] | undefined;
  readonly context: () => ToolContext;
  readonly logger: () => Logger;
  readonly progress: () => InvokeOptions["progress"];
};

export class StepCall implements InvokeOptions {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  readonly infrastructure: Infrastructure;
  readonly blobs: ToolBlobs;
  readonly answers: readonly GivenAnswer[] | undefined;
  readonly #made: Made;

  constructor({ signal, infrastructure, blobs }: StepCaller, made: Made) {
    this.signal = signal;
    this.idempotencyKey = made.idempotencyKey;
    this.infrastructure = infrastructure;
    this.blobs = blobs;
    this.answers = made.answers;
    this.#made = made;
  }

  get context(): ToolContext {
    return this.#made.context();
  }

  get logger(): Logger {
    return this.#made.logger();
  }

  get progress(): InvokeOptions["progress"] {
    return this.#made.progress();
  }
}
