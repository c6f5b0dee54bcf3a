import type { Clock } from "../../ports/clock.ts";
import { isoTime } from "../../ports/clock.ts";
import type { ChatModel, TokenUsage } from "../../ports/chat-model.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import { redactedStart, redactJson } from "../../schema/values/redact.ts";

/** A part of a prompt, or a reply, is kept up to this length. */
export const MAX_TRACED_TEXT = 8_000;
export const MAX_TRACED_WARNINGS = 100;
/** Model calls that are kept with their texts; the tokens of all are counted. */
export const MAX_TRACED_CALLS = 100;

type Stage = "context" | "plan" | "execute" | "finalize";

export type Warning = { readonly code: string; readonly message: string };

export type ModelCall = {
  readonly purpose: string;
  readonly model: string;
  readonly ms: number;
  readonly usage?: TokenUsage;
  readonly prompt: string;
  readonly reply?: string;
  readonly error?: string;
};

type StepTrace = {
  readonly stepId: string;
  readonly tool: string;
  readonly success: boolean;
  readonly startedAt: string;
  readonly ms: number;
  readonly energyUnits: number;
  readonly error?: string;
  readonly reused?: boolean;
};

/** Gathers what a run did and how long it took, for whoever inspects it. */
export type LoopTrace = {
  /** Measures a stage, whether it ends well or not. */
  readonly stage: <T>(name: Stage, work: () => Promise<T>) => Promise<T>;
  readonly warn: (warning: Warning) => void;
  readonly warnings: () => readonly Warning[];
  readonly modelCall: (call: ModelCall) => void;
  /** The same model for a tool, whose calls of it are traced. */
  readonly watchModel: (model: ChatModel, toolId: string) => ChatModel;
  /** Facts about the run that are known only on the way. */
  readonly set: (facts: JsonObject) => void;
  readonly step: (step: StepTrace) => void;
  readonly value: () => JsonObject;
};

export function createTrace(clock: Clock, facts: JsonObject): LoopTrace {
  const startedAt = isoTime(clock);
  const startedMs = clock.monotonic();
  const known: Record<string, JsonObject[string]> = { ...facts };
  const stages: { readonly stage: Stage; readonly ms: number }[] = [];
  const modelCalls: ModelCall[] = [];
  const tokens = { input: 0, output: 0 };
  const steps: StepTrace[] = [];
  const warnings: Warning[] = [];
  const modelCall = (call: ModelCall): void => {
    tokens.input += call.usage?.inputTokens ?? 0;
    tokens.output += call.usage?.outputTokens ?? 0;
    if (modelCalls.length >= MAX_TRACED_CALLS) return;
    const texts = { prompt: shown(call.prompt), ...(call.reply === undefined ? {} : { reply: shown(call.reply) }) };
    modelCalls.push({ ...call, ms: rounded(call.ms), ...texts });
  };
  return {
    stage: async (stage, work) => {
      const from = clock.monotonic();
      try {
        return await work();
      } finally {
        stages.push({ stage, ms: rounded(clock.monotonic() - from) });
      }
    },
    warn: (warning) => {
      if (warnings.length < MAX_TRACED_WARNINGS) warnings.push(warning);
    },
    warnings: () => warnings,
    modelCall,
    watchModel: (model, purpose) => notedModel(model, { purpose, clock, note: modelCall }),
    set: (facts) => Object.assign(known, facts),
    step: (step) => void steps.push(step),
    value: () =>
      redactJson({
        ...known,
        startedAt,
        ms: rounded(clock.monotonic() - startedMs),
        stages: [...stages],
        modelCalls: [...modelCalls],
        steps: [...steps],
        warnings: [...warnings],
        tokens: { ...tokens },
      }),
  };
}

/** The same model; each call of it is noted for the trace, whether it is answered or fails. */
export function notedModel(
  model: ChatModel,
  { purpose, clock, note }: { readonly purpose: string; readonly clock: Clock; note: (call: ModelCall) => void },
): ChatModel {
  return {
    id: model.id,
    generate: async (request) => {
      const startedMs = clock.monotonic();
      const prompt = request.messages.map(({ role, content }) => `${role}: ${content}`).join("\n\n");
      const noteCall = (came: Pick<ModelCall, "usage" | "reply" | "error">): void =>
        note({ purpose, model: model.id, prompt, ms: clock.monotonic() - startedMs, ...came });
      try {
        const reply = await model.generate(request);
        noteCall({ usage: reply.usage, reply: reply.text });
        return reply;
      } catch (thrown) {
        noteCall({ error: thrown instanceof Error ? thrown.message : "unknown" });
        throw thrown;
      }
    },
  };
}

/** Instructions, message and data are cut each for itself, so that none hides the others. */
function shown(text: string): string {
  const parts = text.split(/\n\n(?=<(?:message|data)>\n)/, MAX_PARTS);
  return parts.map((part) => redactedStart(part, MAX_TRACED_TEXT)).join("\n\n");
}

const MAX_PARTS = 10;

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
