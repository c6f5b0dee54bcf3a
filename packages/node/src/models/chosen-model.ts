import type { ChatModel, Clock } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { createAiModel } from "./ai-model.ts";
import type { ModelChoice } from "./choose-model.ts";

/** Settings that name a model which cannot be had say so when it is asked: all else works without it. */
export function chosenModel(choice: ModelChoice, clock: Clock): ChatModel | undefined {
  switch (choice.kind) {
    case "offline":
      return undefined;
    case "model":
      return createAiModel({ service: choice.service, clock });
    case "broken":
      return { id: "none/none", generate: () => Promise.reject(usageError("setting_invalid", choice.problem)) };
  }
}
