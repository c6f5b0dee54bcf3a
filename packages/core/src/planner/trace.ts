import type { Clock } from "../ports/clock.ts";
import { isoTime } from "../ports/clock.ts";
import type { TokenUsage } from "../ports/chat-model.ts";
import type { JsonObject } from "../schema/json.ts";
import { redactedStart, redactJson } from "../schema/redact.ts";

/** A part of a prompt, or a reply, is kept up to this length. */
export const MAX_TRACED_TEXT = 8_000;
export const MAX_TRACED_WARNINGS = 100;

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
  const steps: StepTrace[] = [];
  const warnings: Warning[] = [];
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
    modelCall: (call) => {
      const texts = { prompt: shown(call.prompt), ...(call.reply === undefined ? {} : { reply: shown(call.reply) }) };
      modelCalls.push({ ...call, ms: rounded(call.ms), ...texts });
    },
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
        tokens: {
          input: sum(modelCalls.map(({ usage }) => usage?.inputTokens)),
          output: sum(modelCalls.map(({ usage }) => usage?.outputTokens)),
        },
      }),
  };
}

/** Instructions, message and data are cut each for itself, so that none hides the others. */
function shown(text: string): string {
  const parts = text.split(/\n\n(?=<(?:message|data)>\n)/, MAX_PARTS);
  return parts.map((part) => redactedStart(part, MAX_TRACED_TEXT)).join("\n\n");
}

const MAX_PARTS = 10;

function sum(counts: readonly (number | undefined)[]): number {
  return counts.reduce<number>((total, count) => total + (count ?? 0), 0);
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
