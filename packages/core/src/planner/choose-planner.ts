import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/embedder.ts";
import { plannerError } from "../errors/planner.ts";
import { createModelPlanner } from "./llm/model-planner.ts";
import type { Planner } from "./planner.ts";

export type ChosenPlanner = { readonly name: string; readonly plan: Planner };

/** The caller's own strategy, else the model's, else the one that needs neither. */
export function choosePlanner({
  planner,
  model,
  clock,
}: {
  readonly planner: Planner | undefined;
  readonly model: ChatModel | undefined;
  readonly embedder: Embedder;
  readonly clock: Clock;
}): ChosenPlanner {
  if (planner !== undefined) return { name: "injected", plan: planner };
  if (model !== undefined) return { name: model.id, plan: createModelPlanner({ model, clock }) };
  return {
    name: "none",
    plan: () => {
      throw plannerError("planner_failed", "There is neither a planner nor a model; give one of them.");
    },
  };
}
