import { type CostModel, createCostModel } from "../energy/cost-model.ts";
import { EnergyRegulator } from "../energy/regulator.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { Clock } from "../ports/clock.ts";
import type { Conversations } from "../ports/conversations.ts";
import type { ConversationStore } from "../ports/conversation-store.ts";
import type { Embedder } from "../ports/embedder.ts";
import type { Ids } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { StateStore } from "../ports/state-store.ts";
import type { SubAgent } from "../hub/sub-agent.ts";
import type { EmbeddedEngine } from "../plans/engine/engine.ts";
import { createOfflinePlanner } from "../planner/default-planner.ts";
import type { EntitySource } from "../planner/tool-entities.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { FORWARDED_CURSOR } from "./event-forwarder.ts";
import { createConversations } from "./conversations.ts";
import { createModelSelector } from "./energy/model-selector.ts";
import { createModelHealth } from "./loop/model-health.ts";
import { createOrchestrator } from "./step/orchestrator.ts";
import { createPool } from "./energy/pool.ts";
import { createRunActions } from "./step/run-actions.ts";
import { createSensitiveLoop, type SensitiveLoop } from "./loop/sensitive-loop.ts";
import type { LoopEnergy } from "./sub-agent/sub-agent-lead.ts";

export type ConversationServiceDeps = {
  readonly store: ConversationStore;
  readonly state: StateStore;
  readonly engine: EmbeddedEngine;
  readonly registry: ToolRegistry;
  /** The dearest first; none means that the offline planner answers. */
  readonly models: readonly ChatModel[];
  readonly embedder: Embedder;
  readonly entities?: EntitySource;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** Whose the pool's own rows are. */
  readonly owner: string;
  readonly costs?: CostModel;
  readonly replenishPerSecond?: number;
  readonly energy?: LoopEnergy;
  readonly subAgent?: SubAgent;
  /** Whether servers may be searched unasked where no tool fits; never without it. */
  readonly mayDiscover?: () => boolean;
  /** After so long with nothing to do, answered conversations are looked at again; 0 for never. */
  readonly reviewEveryMs?: number;
  /** Conversations that may wait for an answer at once. */
  readonly maxWanting?: number;
  /** Waits a little for tools that are on their way. */
  readonly toolsReady?: () => Promise<void>;
};

/** The loop, the pool it lives on, and the door through which people reach it. */
export type ConversationService = { readonly conversations: Conversations } & Pick<
  SensitiveLoop,
  "start" | "stop" | "status"
>;

export async function createConversationService(deps: ConversationServiceDeps): Promise<ConversationService> {
  const { store, state, engine, models, clock, ids, owner } = deps;
  const level = await store.readLevel();
  const regulator = new EnergyRegulator({ clock, level, replenishPerSecond: deps.replenishPerSecond });
  const loop = createSensitiveLoop({
    ...deps,
    conversations: store,
    entries: (query) => store.entries(query),
    regulator,
    pool: createPool({ regulator, store, owner, clock }),
    shelf: createModelSelector(models),
    health: createModelHealth(clock),
    orchestrator: createOrchestrator(deps),
    offline: createOfflinePlanner(deps),
    readContext: async (ref) => (await engine.readSession({ ...ref, historyLimit: 1 })).context,
    runActions: createRunActions({ engine, store: state }),
    costs: deps.costs ?? createCostModel(),
  });
  const conversations = createConversations({ store, loop, regulator, engine, ids, clock });
  const { start, stop, status } = loop;
  return { conversations, start, stop, status };
}

/** Whether an earlier process left something to do: a conversation that waits, or entries that were not published. */
export async function conversationsLeft(
  store: Pick<ConversationStore, "wanting" | "log">,
  state: Pick<StateStore, "readCursor">,
): Promise<boolean> {
  if ((await store.wanting(1)).length > 0) return true;
  return (await store.log({ afterSeq: await state.readCursor(FORWARDED_CURSOR), limit: 1 })).length > 0;
}
