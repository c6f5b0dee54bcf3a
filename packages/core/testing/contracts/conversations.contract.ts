import { afterEach, describe, expect, it } from "vitest";
import type { Conversations } from "../../src/ports/conversations.ts";

export type OpenedTalk = { readonly conversations: Conversations; readonly close: () => Promise<void> };

/** What every form of Conversations must do; `open` gives one whose loop runs without a model. */
export function conversationsContract(name: string, open: () => Promise<OpenedTalk>): void {
  const opened: OpenedTalk[] = [];
  const fresh = async (): Promise<Conversations> => {
    const made = await open();
    opened.push(made);
    return made.conversations;
  };
  const ada = { owner: "ada" };

  describe(`the conversations contract: ${name}`, () => {
    afterEach(async () => {
      for (const { close } of opened.splice(0)) await close();
    });

    it("takes a message, answers it, and takes the next in the same conversation (B1)", async () => {
      const conversations = await fresh();
      const { conversationId: id, messageId } = await conversations.post({ ...ada, content: "Hello there" });
      expect(await conversations.settled({ ...ada, id, timeoutMs: 30_000 })).toMatchObject({
        id,
        state: "answered",
        title: "Hello there",
        messages: 1,
        answers: 1,
      });
      const again = await conversations.post({ ...ada, content: "And now?", conversationId: id });
      expect(again.conversationId).toBe(id);
      expect(await conversations.settled({ ...ada, id, timeoutMs: 30_000 })).toMatchObject({ answers: 2 });
      const { history, nextCursor } = await conversations.read({ ...ada, id });
      expect(history.map(({ body }) => body.kind)).toEqual(["message", "response", "message", "response"]);
      expect(history[0]?.body).toMatchObject({ id: messageId, content: "Hello there" });
      expect(nextCursor).toBeUndefined();
      const newest = await conversations.read({ ...ada, id, limit: 1 });
      expect(newest.history).toEqual(history.slice(-1));
      const older = await conversations.read({ ...ada, id, limit: 10, cursor: newest.nextCursor ?? "" });
      expect(older.history).toEqual(history.slice(0, -1));
    });

    it("lists what is one's own, newest first, and pages", async () => {
      const conversations = await fresh();
      for (const content of ["one", "two", "three"]) await conversations.post({ ...ada, content });
      await conversations.post({ owner: "bob", content: "mine" });
      const first = await conversations.list({ ...ada, limit: 2 });
      expect(first.items.map(({ title }) => title)).toEqual(["three", "two"]);
      const rest = await conversations.list({ ...ada, limit: 2, cursor: first.nextCursor ?? "" });
      expect(rest.items.map(({ title }) => title)).toEqual(["one"]);
      expect((await conversations.list({ owner: "eve", limit: 2 })).items).toEqual([]);
    });

    it("ends a conversation once, and shows another's to nobody (B2)", async () => {
      const conversations = await fresh();
      const { conversationId: id } = await conversations.post({ ...ada, content: "Hello", energyBudget: 5 });
      expect(await conversations.settled({ ...ada, id, timeoutMs: 30_000 })).toMatchObject({ budgetStatus: "within" });
      const refusals = [
        async () => conversations.read({ owner: "eve", id }),
        async () => conversations.end({ owner: "eve", id, reason: "x" }),
        async () => conversations.settled({ owner: "eve", id, timeoutMs: 0 }),
        async () => conversations.post({ owner: "eve", content: "x", conversationId: id }),
        async () => conversations.read({ ...ada, id: "no-such-one" }),
        async () => conversations.read({ ...ada, id: "../x" }),
      ];
      for (const refused of refusals) await expect(refused()).rejects.toMatchObject({ code: "conversation_not_found" });
      expect(await conversations.end({ ...ada, id, reason: "enough" })).toMatchObject({
        state: "ended",
        ended: { reason: "enough" },
      });
      await expect(conversations.end({ ...ada, id, reason: "again" })).rejects.toMatchObject({
        code: "conversation_ended",
      });
      await expect(conversations.post({ ...ada, content: "x", conversationId: id })).rejects.toMatchObject({
        code: "conversation_ended",
      });
      await expect(conversations.post({ ...ada, content: "   " })).rejects.toMatchObject({ code: "input_invalid" });
    });

    it("shows the pool, and what the loop is busy with", async () => {
      const conversations = await fresh();
      expect(await conversations.energy()).toMatchObject({ level: 100, status: "high" });
      expect(await conversations.status()).toMatchObject({ running: true, planner: "offline", degraded: [] });
    });
  });
}
