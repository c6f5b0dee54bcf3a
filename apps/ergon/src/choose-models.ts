import { type ChatModel, type Clock, type Embedder, usageError } from "@ergon/core";
import {
  chooseCheaperModels,
  chooseModel,
  chooseService,
  chosenModel,
  createBundledEmbedder,
  createServiceEmbedder,
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

export function chooseModels(values: SettingValues, clock: Clock): Models {
  const choice = chooseModel(values);
  const model = chosenModel(choice, clock);
  const cheaper = chooseCheaperModels(values).map((one) => chosenModel(one, clock));
  const all = [model, ...cheaper].filter((one) => one !== undefined);
  return { choice, model, all, embedder: embedderOf(values, clock) };
}

function embedderOf(values: SettingValues, clock: Clock): Embedder {
  if (values.embedder.toLowerCase() === "bundled") return createBundledEmbedder();
  const chosen = chooseService(values.embedder, values);
  if (chosen.kind === "model") return createServiceEmbedder({ service: chosen.service, clock });
  const broken = usageError("setting_invalid", `ERGON_EMBEDDER: ${chosen.problem}`);
  return { model: values.embedder, embed: () => Promise.reject(broken) };
}
