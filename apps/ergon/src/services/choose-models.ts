import type { ChatModel, Clock, Embedder } from "@ergon/core";
import { createHashEmbedder } from "@ergon/core/store-kit";
import {
  chooseCheaperModels,
  chooseModel,
  chosenEmbedder,
  chosenModel,
  createBundledEmbedder,
  isInstalled,
  type ModelChoice,
  type SettingValues,
} from "@ergon/node";

/** What the settings say about models; nothing of it is loaded or asked before it is used. */
export type Models = {
  readonly choice: ModelChoice;
  readonly model: ChatModel | undefined;
  /** All of them, the dearest first. */
  readonly all: readonly ChatModel[];
  readonly embedder: Embedder;
};

export function chooseModels(
  values: SettingValues,
  clock: Clock,
  {
    given,
    isEmbedderNamed = false,
  }: { readonly given?: ChatModel | undefined; readonly isEmbedderNamed?: boolean } = {},
): Models {
  const choice = chooseModel(values);
  const model = given ?? chosenModel(choice, clock);
  const cheaper = chooseCheaperModels(values).map((one) => chosenModel(one, clock));
  const all = [model, ...cheaper].filter((one) => one !== undefined);
  return { choice, model, all, embedder: embedderOf(values, clock, isEmbedderNamed) };
}

function embedderOf(values: SettingValues, clock: Clock, isNamed: boolean): Embedder {
  if (values.embedder.toLowerCase() === "bundled") {
    // Words alone do without the encoder's package, unless a person asked for it.
    return isNamed || isInstalled("@ergon/encoder") ? createBundledEmbedder() : createHashEmbedder();
  }
  return chosenEmbedder(values.embedder, values, clock);
}
