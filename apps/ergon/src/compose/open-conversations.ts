import type { EmbeddedEngine, Infrastructure } from "@ergon/core/engine";
import { createToolEntities } from "@ergon/core/planner";
import {
  createConversationService,
  type ConversationService,
  type ConversationServiceDeps,
} from "@ergon/core/conversation";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { OwnedData, WorkspaceParts } from "../workspace/workspace.ts";

const MINUTE_MS = 60_000;

/** The loop that answers conversations, on this folder's stores; it does nothing before it is started. */
export function openConversations(
  {
    values,
    registry,
    gate,
    hub,
    models,
    clock,
    ids,
    logger,
    toolsReady,
    subAgent,
    mayDiscover,
  }: WorkspaceParts & Pick<ConversationServiceDeps, "toolsReady" | "subAgent" | "mayDiscover">,
  data: OwnedData,
  engine: EmbeddedEngine,
  infrastructure: Omit<Infrastructure, "sessionId">,
): Promise<ConversationService> {
  return createConversationService({
    store: data.conversations,
    state: data.state,
    engine,
    registry,
    models: models.all,
    costs: hub.costs,
    embedder: data.vectors.around(models.embedder),
    entities: createToolEntities({ registry, gate, clock, owner: FIRST_PRINCIPAL, infrastructure }),
    clock,
    ids,
    logger,
    owner: FIRST_PRINCIPAL,
    replenishPerSecond: values.energyRate,
    energy: { pauseAt: values.energyPause, resumeAt: values.energyResume, whenLow: values.energyLow },
    reviewEveryMs: values.idleReview * MINUTE_MS,
    ...(toolsReady === undefined ? {} : { toolsReady }),
    ...(subAgent === undefined ? {} : { subAgent }),
    ...(mayDiscover === undefined ? {} : { mayDiscover }),
  });
}
