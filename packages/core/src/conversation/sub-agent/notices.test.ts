import { afterEach, describe, expect, it } from "vitest";
import { ADA, createConversationWorld, type ConversationWorld, until } from "../../../testing/conversation-world.ts";
import { createMemoryConversationStore } from "../../memory/conversation-store.ts";
import { MAX_NOTED, OPEN_MS } from "./notices.ts";

let world: ConversationWorld;
afterEach(() => world.close());

function server(state: string): Promise<unknown> {
  const data = { serverId: "files", name: "files", state, error: "it ended" };
  const at = new Date(world.world.clock.now()).toISOString();
  return world.world.store.commit({ sessionId: "", owner: ADA, events: [{ type: "server-changed", at, data }] });
}

async function notes(id: string): Promise<readonly string[]> {
  const entries = await world.store.entries({ id, limit: 100 });
  return entries.flatMap(({ body }) => (body.kind === "note" ? [body.text] : [])).reverse();
}

describe("a server that falls and comes back", () => {
  it("is told in every open conversation, answered ones too, and in none that has ended", async () => {
    world = await createConversationWorld();
    const [answered, over] = [await world.say("Hello"), await world.say("Bye")];
    for (const id of [answered, over]) await world.settled(id);
    await world.conversationService.conversations.end({ owner: ADA, id: over, reason: "done" });
    await server("down");
    await server("ready");
    await until(async () => expect(await notes(answered)).toHaveLength(2));
    expect(await notes(answered)).toEqual([
      'The MCP server "files" cannot be reached: it ended. Its tools fail until it is back.',
      'The MCP server "files" is back.',
    ]);
    expect(await notes(over)).toEqual(["Ended: done"]);
    expect((await world.settled(answered)).state).toBe("answered");
  });

  it("is told in so many conversations, and not in those where nothing happened for a day", async () => {
    const store = createMemoryConversationStore();
    world = await createConversationWorld({ store });
    const nowMs = world.world.clock.now();
    const put = (n: number, atMs: number) => {
      const [id, at] = [`c${String(n)}`, new Date(atMs).toISOString()];
      const empty = { choices: 0, messages: 1, answers: 1, energySpent: 0, thoughts: [] };
      const record = { id, owner: ADA, title: id, createdAt: at, updatedAt: at, lastMessage: n, ...empty };
      return store.receive({ owner: ADA, conversationId: id, messageId: id, content: id, at, decide: () => record });
    };
    await put(0, nowMs - OPEN_MS - 1);
    await put(1, nowMs - OPEN_MS + 60_000);
    for (let n = 2; n <= MAX_NOTED + 1; n++) await put(n, nowMs - 1_000 + n);
    await server("down");
    await until(async () => expect(await notes("c2")).toHaveLength(1));
    expect([await notes("c0"), await notes("c1")]).toEqual([[], []]);
    expect(await notes(`c${String(MAX_NOTED + 1)}`)).toHaveLength(1);
  });
});
