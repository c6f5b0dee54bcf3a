import { describe, expect, it } from "vitest";
import { conversationMemoryContract } from "../../testing/contracts/conversation-memory.contract.ts";
import { createConversationMemory, MAX_KEPT_CONVERSATIONS } from "./conversation-memory.ts";

conversationMemoryContract("in memory", async () => ({ memory: createConversationMemory() }));

describe("conversations in memory", () => {
  it("forget the one that was quiet longest, one past the bound", async () => {
    const memory = createConversationMemory();
    const speak = (n: number) =>
      memory.append({ owner: "o", sessionId: `s${String(n)}`, messages: [{ role: "user", content: "hi", at: "" }] });
    const count = async (n: number) =>
      (await memory.load({ owner: "o", sessionId: `s${String(n)}`, recentLimit: 9, matchLimit: 0, minSimilarity: 0 }))
        .recentMessages.length;
    for (let n = 0; n < MAX_KEPT_CONVERSATIONS; n += 1) await speak(n);
    await speak(0);
    expect(await count(1)).toBe(1);
    await speak(MAX_KEPT_CONVERSATIONS);
    expect(await count(1)).toBe(0);
    expect(await count(0)).toBe(2);
  });
});
