import type { ChatModel } from "../../ports/chat-model.ts";

/** The words of an answer get shorter as energy goes down; below each level, this many tokens. */
const REPLY_TOKENS: readonly (readonly [below: number, tokens: number])[] = [
  [10, 100],
  [30, 250],
  [60, 500],
];
const FULL_REPLY_TOKENS = 1_000;

export function replyTokens(level: number): number {
  return REPLY_TOKENS.find(([below]) => level < below)?.[1] ?? FULL_REPLY_TOKENS;
}

/** A model's price is the average of its last calls, as spec 5's program has it. */
const CALLS_REMEMBERED = 5;
/** Before the first call: two seconds of work for the dearest, less for those behind it. */
const GUESS_UNITS = 4;

export type ModelSelector = {
  readonly models: readonly ChatModel[];
  /** What a call of this model is expected to cost. */
  readonly estimate: (model: ChatModel) => number;
  readonly learn: (model: ChatModel, units: number) => void;
  /** The dearest that the level covers, else the cheapest; undefined when none may be asked. */
  readonly choose: (level: number, isAvailable: (model: ChatModel) => boolean) => ChatModel | undefined;
};

/** `models` are in order, the dearest first. */
export function createModelSelector(models: readonly ChatModel[]): ModelSelector {
  const spent = new Map<string, readonly number[]>();
  const estimate = (model: ChatModel): number => {
    const known = spent.get(model.id) ?? [];
    if (known.length === 0) return GUESS_UNITS / (models.indexOf(model) + 1);
    return known.reduce((sum, units) => sum + units, 0) / known.length;
  };
  return {
    models,
    estimate,
    learn: (model, units) => {
      spent.set(model.id, [...(spent.get(model.id) ?? []), units].slice(-CALLS_REMEMBERED));
    },
    choose: (level, isAvailable) => {
      const available = models.filter(isAvailable);
      return available.find((model) => estimate(model) <= level) ?? available.at(-1);
    },
  };
}
