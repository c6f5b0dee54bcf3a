import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { conversationMemoryContract } from "@ergon/core/testing/contracts";
import { afterEach, describe, expect, it } from "vitest";
import { MAX_REMEMBERED, openConversationMemory } from "./conversation-memory.ts";

const folders: string[] = [];
function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "ergon-memory-"));
  folders.push(folder);
  return join(folder, "memory.db");
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

conversationMemoryContract("SQLite", async () => {
  const memory = openConversationMemory({ path: freshPath() });
  return { memory, close: memory.close };
});

describe("conversations in SQLite", () => {
  const session = { owner: "o", sessionId: "s" };
  const limits = { recentLimit: 10_000, matchLimit: 3, minSimilarity: 0 };

  it("are there after a restart", async () => {
    const path = freshPath();
    const first = openConversationMemory({ path });
    const embedding = { model: "m", dimension: 2, vector: [0.6, 0.8] };
    await first.append({ ...session, messages: [{ role: "user", content: "remember me", at: "now", embedding }] });
    await first.close();
    const second = openConversationMemory({ path });
    const { recentMessages, semanticMatches } = await second.load({ ...session, ...limits, embedding });
    await second.close();
    expect(recentMessages).toMatchObject([{ content: "remember me" }]);
    expect(semanticMatches[0]?.similarity).toBeCloseTo(1, 5);
  });

  it("forget the oldest past their bound", async () => {
    const memory = openConversationMemory({ path: freshPath() });
    const messages = Array.from({ length: MAX_REMEMBERED }, (_, n) => ({
      role: "user" as const,
      content: String(n),
      at: "",
    }));
    await memory.append({ ...session, messages });
    expect((await memory.load({ ...session, ...limits })).recentMessages).toHaveLength(MAX_REMEMBERED);
    await memory.append({ ...session, messages: [{ role: "user", content: "new", at: "" }] });
    const { recentMessages } = await memory.load({ ...session, ...limits });
    await memory.close();
    expect(recentMessages).toHaveLength(MAX_REMEMBERED);
    expect([recentMessages[0]?.content, recentMessages.at(-1)?.content]).toEqual(["1", "new"]);
  });

  it("refuse what comes after their end with a typed error", async () => {
    const memory = openConversationMemory({ path: freshPath() });
    await memory.close();
    await expect(memory.load({ ...session, ...limits })).rejects.toMatchObject({ name: "ErgonError" });
  });
});
