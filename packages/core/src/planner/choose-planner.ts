import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/embedder.ts";
import { createModelPlanner } from "./llm/model-planner.ts";
import type { EntitySource } from "./offline/entities.ts";
import { createOfflinePlanner } from "./offline/offline-planner.ts";
import type { Planner } from "./planner.ts";

export type ChosenPlanner = { readonly name: string; readonly plan: Planner };

/** The caller's own strategy, else the model's, else the one that needs neither. */
export function choosePlanner(parts: {
  readonly planner: Planner | undefined;
  readonly model: ChatModel | undefined;
  readonly embedder: Embedder;
  readonly entities: EntitySource | undefined;
  readonly clock: Clock;
}): ChosenPlanner {
  const { planner, model, embedder, entities, clock } = parts;
  if (planner !== undefined) return { name: "injected", plan: planner };
  if (model !== undefined) return { name: model.id, plan: createModelPlanner({ model, clock }) };
  return { name: "offline", plan: createOfflinePlanner({ embedder, ...(entities === undefined ? {} : { entities }) }) };
}
