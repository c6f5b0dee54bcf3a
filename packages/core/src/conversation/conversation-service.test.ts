import { describe, expect, it } from "vitest";
import { ADA, createConversationWorld } from "../../testing/conversation-world.ts";
import { createMemoryConversationStore } from "../memory/conversation-store.ts";
import { createMemoryStateStore } from "../memory/state-store.ts";
import { conversationsLeft } from "./conversation-service.ts";

describe("an earlier process left something to do", () => {
  it("if a conversation waits for an answer", async () => {
    const { store, world, conversationService, close } = await createConversationWorld();
    try {
      expect(await conversationsLeft(store, world.store)).toBe(false);
      await conversationService.stop();
      await conversationService.conversations.post({ owner: ADA, content: "hello" });
      expect(await conversationsLeft(store, world.store)).toBe(true);
    } finally {
      await close();
    }
  });

  it("if an entry of the log was not published", async () => {
    const [store, state] = [createMemoryConversationStore(), createMemoryStateStore()];
    expect(await conversationsLeft(store, state)).toBe(false);
    const at = new Date(0).toISOString();
    await store.keepPool(at, { owner: ADA, level: 50, rows: [{ at, cause: "replenish", units: -1 }] });
    expect(await conversationsLeft(store, state)).toBe(true);
    const [entry] = await store.log({ afterSeq: 0, limit: 1 });
    await state.commit({ sessionId: "", owner: ADA, cursor: { name: "conversations", seq: entry?.seq ?? 0 } });
    expect(await conversationsLeft(store, state)).toBe(false);
  });
});
