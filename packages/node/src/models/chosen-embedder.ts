import type { Clock, Embedder } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { chooseService, type ModelSettings } from "./choose-model.ts";
import { createServiceEmbedder } from "../embed/service-embedder.ts";

/** The embedder behind a `provider/model`; one that cannot be had says so when it is asked. */
export function chosenEmbedder(id: string, settings: ModelSettings, clock: Clock): Embedder {
  const chosen = chooseService(id, settings);
  if (chosen.kind === "model") return createServiceEmbedder({ service: chosen.service, clock });
  const broken = usageError("setting_invalid", `ERGON_EMBEDDER: ${chosen.problem}`);
  return { model: id, embed: () => Promise.reject(broken) };
}
