import { afterEach, describe, expect, it } from "vitest";
import {
  ADA,
  call,
  createConversationWorld,
  type ConversationWorld,
  until,
} from "../../../testing/conversation-world.ts";
import { createScriptedModel } from "../../../testing/scripted-model.ts";
import { createScriptedSubAgent } from "../../../testing/scripted-sub-agent.ts";
import type { Json } from "../../schema/values/json.ts";
import { LEAST_LEVEL } from "./discovery.ts";
import type { ConversationServiceDeps } from "../conversation-service.ts";

let world: ConversationWorld;
afterEach(() => world.close());

async function withAgent(given: Partial<ConversationServiceDeps> = {}) {
  const agent = createScriptedSubAgent();
  world = await createConversationWorld({ subAgent: agent, mayDiscover: () => true, replenishPerSecond: 0, ...given });
  const ends = (requestId: string, servers: Json, owner: string = ADA): void =>
    agent.work(0, { type: "completion", requestId, owner, data: { state: "completed", result: { servers } } });
  const notes = async (id: string): Promise<readonly string[]> =>
    (await world.store.entries({ id, limit: 50 })).flatMap(({ body }) => (body.kind === "note" ? [body.text] : []));
  return { agent, ends, notes };
}

const WEATHER = [{ name: "com.example/weather", description: "Forecasts\u{200b} of rain.", version: "1.0.0" }];

describe("discovery", () => {
  it("searches the registry when a model wants a tool that is not there, and notes what it has", async () => {
    const answers = [call("weather_forecast"), call("weather_today"), call("respond", { content: "I cannot." })];
    const { agent, ends, notes } = await withAgent({ models: [createScriptedModel(answers)] });
    const id = await world.say("Will it rain tomorrow?");
    await world.settled(id);
    expect(agent.sent).toMatchObject([
      { owner: ADA, request: { type: "search_servers", priority: "low", params: { limit: 5 } } },
    ]);
    const [{ request } = { request: undefined }] = agent.sent;
    expect(request?.params).toMatchObject({ query: "weather_forecast Will it rain tomorrow?" });
    const told = (await world.story(id)).flatMap((body) => (body.kind === "result" ? [body.text] : []));
    expect(told[0]).toContain("registry of MCP servers is being searched");
    ends(request?.id ?? "", WEATHER);
    await until(async () => expect(await notes(id)).toHaveLength(1));
    expect((await notes(id))[0]).toContain("com.example/weather (Forecasts\\u{200b} of rain.)");
  });

  it("searches when nothing that the offline planner knows fits, and says so", async () => {
    const { agent, ends, notes } = await withAgent();
    const id = await world.say("zebra quantum trombone");
    await world.settled(id);
    expect((await world.answers(id))[0]).toContain("is being searched");
    await until(async () => expect(agent.sent).toHaveLength(1));
    ends(agent.sent[0]?.request.id ?? "", []);
    await until(async () => expect(await notes(id)).toEqual(["The registry of MCP servers knows none for this."]));
  });

  it("does nothing unless it was turned on, and not when a tool fits", async () => {
    const off = await withAgent({ mayDiscover: () => false });
    await world.settled(await world.say("zebra quantum trombone"));
    expect(off.agent.sent).toEqual([]);
    await world.close();
    const on = await withAgent();
    await world.settled(await world.say("use probe::echo"));
    expect(on.agent.sent).toEqual([]);
  });

  it("keeps to one search at a time, and to none when there is too little energy", async () => {
    const { agent, ends } = await withAgent();
    for (const n of [1, 2]) await world.settled(await world.say(`zebra quantum trombone ${String(n)}`));
    expect(agent.sent).toHaveLength(1);
    ends(agent.sent[0]?.request.id ?? "", []);
    await until(async () => {
      await world.settled(await world.say("zebra quantum trombone again"));
      expect(agent.sent).toHaveLength(2);
    });
    agent.work(0, { type: "error", requestId: agent.sent[1]?.request.id ?? "", owner: ADA, data: null });
    agent.work(100 - LEAST_LEVEL + 1, { type: "status_update", requestId: "x", owner: ADA, data: null });
    await until(async () =>
      expect((await world.conversationService.conversations.energy()).level).toBeLessThan(LEAST_LEVEL),
    );
    await world.settled(await world.say("zebra quantum trombone at last"));
    expect(agent.sent).toHaveLength(2);
  });

  it("writes nothing into a conversation that is not the asker's", async () => {
    const { ends, notes } = await withAgent({ mayDiscover: () => false });
    const id = await world.say("zebra quantum trombone");
    await world.settled(id);
    ends(`discover:${id}:1`, WEATHER, "eve");
    ends(`discover:${id}:1`, WEATHER, ADA);
    await until(async () => expect(await notes(id)).toHaveLength(1));
  });
});
