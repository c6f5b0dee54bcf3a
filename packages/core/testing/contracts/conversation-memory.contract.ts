import { afterEach, describe, expect, it } from "vitest";
import {
  type ConversationMemory,
  MIN_KEPT_MESSAGES,
  type RememberedMessage,
} from "../../src/ports/conversation-memory.ts";
import type { Embedding } from "../../src/ports/embedder.ts";

export type OpenedMemory = { readonly memory: ConversationMemory; readonly close?: () => Promise<void> };

/** What every ConversationMemory must do. `open` gives a fresh one. */
export function conversationMemoryContract(name: string, open: () => Promise<OpenedMemory>): void {
  const opened: OpenedMemory[] = [];
  const fresh = async (): Promise<ConversationMemory> => {
    const made = await open();
    opened.push(made);
    return made.memory;
  };
  const session = { owner: "ana", sessionId: "s1" };
  const limits = { recentLimit: 10, matchLimit: 3, minSimilarity: 0.5 };

  describe(`the conversation memory contract: ${name}`, () => {
    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close?.();
    });

    it("knows nothing of a session that nobody spoke in", async () => {
      const memory = await fresh();
      expect(await memory.load({ ...session, ...limits })).toEqual({ recentMessages: [], semanticMatches: [] });
    });

    it("gives back what was said, oldest first and the newest of it (C2)", async () => {
      const memory = await fresh();
      await memory.append({ ...session, messages: [said("one", "user"), said("two", "assistant")] });
      await memory.append({ ...session, messages: [said("naïve 三 🙂", "user")] });
      const { recentMessages } = await memory.load({ ...session, ...limits, recentLimit: 2 });
      expect(recentMessages).toEqual([
        { role: "assistant", content: "two", at: AT },
        { role: "user", content: "naïve 三 🙂", at: AT },
      ]);
    });

    it("finds what means the same, the closest first, and leaves out what does not (C2)", async () => {
      const memory = await fresh();
      await memory.append({
        ...session,
        messages: [
          said("near", "user", [0.9, 0.1]),
          said("nearest", "user", [1, 0]),
          said("far", "user", [0, 1]),
          said("never embedded", "user"),
        ],
      });
      const { semanticMatches } = await memory.load({ ...session, ...limits, embedding: point([1, 0]) });
      expect(semanticMatches.map(({ content }) => content)).toEqual(["nearest", "near"]);
      expect(semanticMatches[0]?.similarity).toBeCloseTo(1, 5);
      const one = await memory.load({ ...session, ...limits, matchLimit: 1, embedding: point([1, 0]) });
      expect(one.semanticMatches).toHaveLength(1);
      expect((await memory.load({ ...session, ...limits })).semanticMatches).toEqual([]);
    });

    it("never compares vectors of different spaces (C2)", async () => {
      const memory = await fresh();
      await memory.append({ ...session, messages: [said("other model", "user", [1, 0])] });
      const other = await memory.load({ ...session, ...limits, embedding: { ...point([1, 0]), model: "b" } });
      expect(other.semanticMatches).toEqual([]);
      const longer = await memory.load({ ...session, ...limits, embedding: point([1, 0, 0]) });
      expect(longer.semanticMatches).toEqual([]);
    });

    it("keeps owners and sessions apart (C1)", async () => {
      const memory = await fresh();
      await memory.append({ ...session, messages: [said("mine", "user", [1, 0])] });
      for (const other of [
        { ...session, owner: "bo" },
        { ...session, sessionId: "s2" },
        { owner: "an", sessionId: "as1" },
      ]) {
        expect(await memory.load({ ...other, ...limits, embedding: point([1, 0]) })).toEqual({
          recentMessages: [],
          semanticMatches: [],
        });
      }
    });

    it("keeps at least its newest messages (C3)", async () => {
      const memory = await fresh();
      for (let n = 0; n < MIN_KEPT_MESSAGES + 10; n += 1) {
        await memory.append({ ...session, messages: [said(String(n), "user")] });
      }
      const { recentMessages } = await memory.load({ ...session, ...limits, recentLimit: MIN_KEPT_MESSAGES });
      expect(recentMessages).toHaveLength(MIN_KEPT_MESSAGES);
      expect(recentMessages.at(-1)?.content).toBe(String(MIN_KEPT_MESSAGES + 9));
    });
  });
}

const AT = "2026-01-02T03:04:05.678Z";

function said(content: string, role: RememberedMessage["role"], vector?: readonly number[]): RememberedMessage {
  return { role, content, at: AT, ...(vector === undefined ? {} : { embedding: point(vector) }) };
}

function point(vector: readonly number[]): Embedding {
  return { model: "a", dimension: vector.length, vector };
}
