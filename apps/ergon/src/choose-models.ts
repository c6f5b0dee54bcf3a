import { type ChatModel, type Clock, type Embedder, usageError } from "@ergon/core";
import {
  chooseModel,
  chooseService,
  createAiModel,
  createBundledEmbedder,
  createServiceEmbedder,
  type ModelChoice,
  type SettingValues,
} from "@ergon/node";

/** What the settings say about models; nothing of it is loaded or asked before it is used. */
export type Models = {
  readonly choice: ModelChoice;
  readonly model: ChatModel | undefined;
  readonly embedder: Embedder;
};

export function chooseModels(values: SettingValues, clock: Clock): Models {
  const choice = chooseModel(values);
  return { choice, model: modelOf(choice, clock), embedder: embedderOf(values, clock) };
}

/** Settings that name a model which cannot be had say so when it is asked: all else works without it. */
function modelOf(choice: ModelChoice, clock: Clock): ChatModel | undefined {
  switch (choice.kind) {
    case "offline":
      return undefined;
    case "model":
      return createAiModel({ service: choice.service, clock });
    case "broken":
      return { id: "none/none", generate: () => Promise.reject(usageError("setting_invalid", choice.problem)) };
  }
}

function embedderOf(values: SettingValues, clock: Clock): Embedder {
  if (values.embedder.toLowerCase() === "bundled") return createBundledEmbedder();
  const chosen = chooseService(values.embedder, values);
  if (chosen.kind === "model") return createServiceEmbedder({ service: chosen.service, clock });
  const broken = usageError("setting_invalid", `ERGON_EMBEDDER: ${chosen.problem}`);
  return { model: values.embedder, embed: () => Promise.reject(broken) };
}
