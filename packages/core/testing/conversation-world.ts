import {
  createConversationService,
  type ConversationService,
  type ConversationServiceDeps,
} from "../src/conversation/conversation-service.ts";
import { createMemoryConversationStore } from "../src/memory/conversation-store.ts";
import { createHashEmbedder } from "../src/memory/hash-embedder.ts";
import { silentLogger } from "../src/memory/logger.ts";
import type { ConversationStore } from "../src/ports/conversation-store.ts";
import type { Conversation, EntryBody } from "../src/schema/conversation.ts";
import { createEngineWorld, type EngineWorld } from "./engine/engine-world.ts";
import type { SimulatedClock } from "./simulated-clock.ts";

export const ADA = "ada";

/** A conversationService on a real engine, whose model tests script. */
export type ConversationWorld = {
  readonly conversationService: ConversationService;
  readonly world: EngineWorld;
  readonly store: ConversationStore;
  /** Says something and gives the conversation's id. */
  readonly say: (content: string, more?: { conversationId?: string; energyBudget?: number }) => Promise<string>;
  readonly settled: (id: string) => Promise<Conversation>;
  /** What was said and done, oldest first. */
  readonly story: (id: string) => Promise<readonly EntryBody[]>;
  readonly answers: (id: string) => Promise<readonly string[]>;
  readonly close: () => Promise<void>;
};

export async function createConversationWorld(
  given: Partial<ConversationServiceDeps> & { readonly world?: EngineWorld } = {},
): Promise<ConversationWorld> {
  const world = given.world ?? createEngineWorld();
  const store = given.store ?? createMemoryConversationStore();
  const conversationService = await createConversationService({
    store,
    state: world.store,
    engine: world.engine,
    registry: world.registry,
    models: [],
    embedder: createHashEmbedder(),
    clock: world.clock,
    ids: world.ids,
    logger: silentLogger,
    owner: ADA,
    ...given,
  });
  await conversationService.start();
  const { conversations } = conversationService;
  const story = async (id: string): Promise<readonly EntryBody[]> =>
    (await conversations.read({ owner: ADA, id })).history.map(({ body }) => body);
  return {
    conversationService,
    world,
    store,
    say: async (content, more = {}) => (await conversations.post({ owner: ADA, content, ...more })).conversationId,
    settled: (id) => conversations.settled({ owner: ADA, id, timeoutMs: 20_000 }),
    story,
    answers: async (id) => (await story(id)).flatMap((body) => (body.kind === "response" ? [body.content] : [])),
    close: async () => {
      await conversationService.stop();
      await world.close();
      await store.close();
    },
  };
}

/** How a scripted model calls a tool. */
export function call(tool: string, args: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ tool, args });
}

/** Until it holds; its last failure when it never does. */
export async function until(holds: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await holds();
      return;
    } catch (thrown) {
      if (tries === 400) throw thrown;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Time goes on only when nothing is left to do at its moment. */
export async function pass(clock: SimulatedClock, seconds: number): Promise<void> {
  const state = { over: false };
  clock.after(seconds * 1_000, () => (state.over = true));
  for (;;) {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setTimeout(resolve, 0));
    if (state.over) return;
    clock.jump();
  }
}
