import { afterEach, describe, expect, it } from "vitest";
import type { ConversationStore, ReceivedMessage } from "../../src/ports/conversation-store.ts";
import type { ConversationRecord, EntryBody } from "../../src/schema/conversation.ts";

export type OpenedConversations = {
  readonly store: ConversationStore;
  /** Closes the store and opens what it left behind; absent when it leaves nothing. */
  readonly reopen?: () => Promise<ConversationStore>;
};

/** What every ConversationStore must do. `open` gives a fresh, empty one. */
export function conversationStoreContract(name: string, open: () => Promise<OpenedConversations>): void {
  const opened: ConversationStore[] = [];
  const fresh = async (): Promise<OpenedConversations> => {
    const made = await open();
    opened.push(made.store);
    return made;
  };

  describe(`the conversation store contract: ${name}`, () => {
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });

    it("keeps a message with its conversation, newest entry first (V1, V3)", async () => {
      const { store } = await fresh();
      const { record, isNew } = await store.receive(message("c1", "m1", "Hello"));
      expect({ record, isNew }).toEqual({ record: recordOf("c1", 1), isNew: true });
      await store.receive(message("c1", "m2", "Are you there?"));
      expect(await store.read("c1")).toMatchObject({ messages: 2, lastMessage: 2 });
      expect(await store.entries({ id: "c1", limit: 10 })).toEqual([
        { seq: 2, at: AT, body: { kind: "message", id: "m2", content: "Are you there?" } },
        { seq: 1, at: AT, body: { kind: "message", id: "m1", content: "Hello" } },
      ]);
      expect(await store.entries({ id: "c1", before: 2, limit: 10 })).toHaveLength(1);
      expect(await store.entries({ id: "c1", limit: 1 })).toMatchObject([{ seq: 2 }]);
    });

    it("takes a message once, however often it is sent, and knows owners apart (V4)", async () => {
      const { store } = await fresh();
      await store.receive(message("c1", "m1", "Hello"));
      expect(await store.receive(message("c9", "m1", "Hello"))).toMatchObject({ isNew: false, record: { id: "c1" } });
      expect(await store.read("c9")).toBeUndefined();
      await store.receive(message("c2", "m1", "Mine", "bob"));
      await expect(store.receive(message("c1", "m2", "Let me in", "bob"))).rejects.toMatchObject({
        code: "conversation_not_found",
      });
      expect((await store.list({ owner: "ada", limit: 10 })).items.map(({ id }) => id)).toEqual(["c1"]);
      expect((await store.list({ owner: "bob", limit: 10 })).items.map(({ id }) => id)).toEqual(["c2"]);
    });

    it("changes record, entries and level together, or nothing (V1, V5)", async () => {
      const { store } = await fresh();
      await store.receive(message("c1", "m1", "Hello"));
      const row = { at: AT, cause: "model", units: 2.5 } as const;
      const said: EntryBody = { kind: "response", id: "c1.r1", content: "Hi", by: "x/y", energyLevel: 97.5 };
      const changed = await store.change("c1", (record) => ({
        record: { ...record, answers: 1, energySpent: 2.5 },
        entries: [{ kind: "thought", text: "greet" }, said],
        at: AT,
        spent: [row],
        pool: { owner: "ada", level: 97.5, rows: [] },
      }));
      expect(changed).toMatchObject({ answers: 1, energySpent: 2.5 });
      expect(await store.readLevel()).toBe(97.5);
      expect(
        (await store.log({ afterSeq: 1, limit: 10 })).map(({ body, energy, level }) => [body.kind, energy, level]),
      ).toEqual([
        ["thought", [], 97.5],
        ["response", [row], 97.5],
      ]);
      const broken = store.change("c1", () => {
        throw new Error("changed my conversationService");
      });
      await expect(broken).rejects.toThrow("changed my conversationService");
      expect(await store.read("c1")).toMatchObject({ answers: 1 });
      expect(await store.change("c2", (record) => ({ record, entries: [], at: AT }))).toBeUndefined();
      await expect(
        store.receive({
          ...message("c1", "m5", "x"),
          decide: () => {
            throw new Error("no more");
          },
        }),
      ).rejects.toThrow("no more");
      expect(await store.receive(message("c1", "m5", "x"))).toMatchObject({ isNew: true });
    });

    it("writes energy down that belongs to no conversation, and forgets it once it is told", async () => {
      const { store } = await fresh();
      expect(await store.readLevel()).toBeUndefined();
      await store.keepPool(AT, { owner: "ada", level: 90, rows: [{ at: AT, cause: "subagent", units: 10 }] });
      await store.receive(message("c1", "m1", "Hello"));
      await store.change("c1", (record) => ({
        record,
        entries: [],
        at: AT,
        spent: [{ at: AT, cause: "model", units: 1 }],
      }));
      expect(
        (await store.log({ afterSeq: 0, limit: 10 })).map(({ conversationId, body }) => [conversationId, body.kind]),
      ).toEqual([
        ["", "energy"],
        ["c1", "message"],
        ["c1", "energy"],
      ]);
      await store.forgetPool(3);
      expect(
        (await store.log({ afterSeq: 0, limit: 10 })).filter(({ conversationId }) => conversationId === ""),
      ).toEqual([]);
      expect(await store.entries({ id: "c1", limit: 10 })).toHaveLength(2);
      await store.keepPool(AT, { owner: "ada", level: 92, rows: [{ at: AT, cause: "replenish", units: -2 }] });
      expect((await store.log({ afterSeq: 3, limit: 10 })).map(({ seq }) => seq)).toEqual([4]);
    });

    it("finds those that want something, and pages through all", async () => {
      const { store } = await fresh();
      for (const id of ["c1", "c2", "c3"]) await store.receive(message(id, `m-${id}`, "Hello"));
      await store.change("c2", ({ pending: _answered, ...record }) => ({ record, entries: [], at: AT }));
      expect((await store.wanting(10)).map(({ id }) => id)).toEqual(["c1", "c3"]);
      expect(await store.wanting(1)).toHaveLength(1);
      await store.change("c3", ({ pending: _answered, ...record }) => ({
        record: { ...record, snooze: { until: AT, reason: "later" } },
        entries: [],
        at: AT,
      }));
      await store.change("c1", (record) => ({
        record: { ...record, ended: { at: AT, reason: "done" } },
        entries: [],
        at: AT,
      }));
      expect((await store.wanting(10)).map(({ id }) => id)).toEqual(["c3"]);
      const first = await store.list({ owner: "ada", limit: 2 });
      expect(first.items.map(({ id }) => id)).toEqual(["c3", "c2"]);
      const rest = await store.list({ owner: "ada", limit: 2, cursor: first.nextCursor ?? "" });
      expect(rest.items.map(({ id }) => id)).toEqual(["c1"]);
      expect(rest.nextCursor).toBeUndefined();
      await expect(store.list({ owner: "ada", limit: 2, cursor: "nonsense" })).rejects.toMatchObject({
        code: "input_invalid",
      });
    });

    it("finds those that are open, the last changed first", async () => {
      const { store } = await fresh();
      for (const id of ["c1", "c2", "c3", "c4"]) await store.receive(message(id, `m-${id}`, "Hello", `of-${id}`));
      const at = async (id: string, updatedAt: string, more: Partial<ConversationRecord> = {}): Promise<unknown> =>
        store.change(id, (record) => ({ record: { ...record, ...more, updatedAt }, entries: [], at: updatedAt }));
      await at("c1", "2026-03-01T00:00:00.000Z");
      await at("c2", "2026-03-03T00:00:00.000Z");
      await at("c3", "2026-03-02T00:00:00.000Z");
      await at("c4", "2026-03-04T00:00:00.000Z", { ended: { at: AT, reason: "done" } });
      const open = async (since: string, limit = 10): Promise<readonly string[]> =>
        (await store.open({ since, limit })).map(({ id }) => id);
      expect(await open("2026-03-02T00:00:00.000Z")).toEqual(["c2", "c3"]);
      expect(await open("2026-02-01T00:00:00.000Z")).toEqual(["c2", "c3", "c1"]);
      expect(await open("2026-02-01T00:00:00.000Z", 1)).toEqual(["c2"]);
      expect(await open("2026-03-05T00:00:00.000Z")).toEqual([]);
    });

    it("is closed when it is closed, and has all of it when it is opened again (V2)", async () => {
      const { store, reopen } = await fresh();
      await store.receive(message("c1", "m1", "Hello"));
      await store.keepPool(AT, { owner: "ada", level: 42.000_001, rows: [] });
      await store.close();
      await store.close();
      await expect(store.read("c1")).rejects.toMatchObject({ code: "store_closed" });
      await expect(store.receive(message("c1", "m2", "x"))).rejects.toMatchObject({ code: "store_closed" });
      if (reopen === undefined) return;
      const again = await reopen();
      opened.push(again);
      expect(await again.read("c1")).toEqual(recordOf("c1", 1));
      expect(await again.readLevel()).toBe(42.000_001);
      expect(await again.receive(message("c1", "m1", "Hello"))).toMatchObject({ isNew: false });
    });
  });
}

const AT = "2026-01-15T10:30:00.000Z";

function message(conversationId: string, messageId: string, content: string, owner = "ada"): ReceivedMessage {
  return {
    owner,
    conversationId,
    messageId,
    content,
    at: AT,
    decide: (known, seq) =>
      known === undefined
        ? recordOf(conversationId, seq, owner)
        : { ...known, messages: known.messages + 1, lastMessage: seq },
  };
}

function recordOf(id: string, lastMessage: number, owner = "ada"): ConversationRecord {
  return {
    id,
    owner,
    title: "Hello",
    createdAt: AT,
    updatedAt: AT,
    choices: 0,
    messages: 1,
    answers: 0,
    lastMessage,
    energySpent: 0,
    thoughts: [],
    pending: { since: AT, steps: 0, failures: {}, stopped: 0 },
  };
}
