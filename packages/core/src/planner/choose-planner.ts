import { type ErgonError, isErgonError } from "../errors/ergon-error.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { OfferTools } from "./llm/offer-tools.ts";
import { createModelPlanner } from "./llm/model-planner.ts";
import { createOfflinePlanner } from "./default-planner.ts";
import type { Planner } from "./planner.ts";
import type { EntitySource } from "./tool-entities.ts";

export type ChosenPlanner = { readonly name: string; readonly plan: Planner };

/** The caller's own strategy, else the model's, else the one that needs neither. */
export function choosePlanner(parts: {
  readonly planner: Planner | undefined;
  readonly model: ChatModel | undefined;
  readonly offer: OfferTools;
  readonly embedder: Embedder;
  readonly entities: EntitySource | undefined;
  readonly clock: Clock;
}): ChosenPlanner {
  const { planner, model, offer, embedder, entities, clock } = parts;
  if (planner !== undefined) return { name: "injected", plan: planner };
  const offline = createOfflinePlanner({ embedder, entities });
  if (model === undefined) return { name: OFFLINE, plan: offline };
  const byModel = createModelPlanner({ model, clock, offer });
  return { name: model.id, plan: orOffline(byModel, offline) };
}

const OFFLINE = "offline";

/** A model that cannot be asked does not end the turn: the offline planner takes over, and the answer says so. */
function orOffline(byModel: Planner, offline: ReturnType<typeof createOfflinePlanner>): Planner {
  return async (input) => {
    try {
      return await byModel(input);
    } catch (thrown) {
      if (!isModelDown(thrown) || input.signal?.aborted === true) throw thrown;
      const note = `The model could not be asked (${thrown.message}), so the offline planner made this plan.`;
      input.note.warning({ code: thrown.code, message: note });
      return { ...(await offline(input)), by: OFFLINE, note };
    }
  };
}

function isModelDown(thrown: unknown): thrown is ErgonError {
  return isErgonError(thrown) && thrown.code.startsWith("model_");
}
