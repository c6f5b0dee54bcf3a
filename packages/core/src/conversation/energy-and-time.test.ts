import { afterEach, describe, expect, it } from "vitest";
import { ADA, call, createConversationWorld, type ConversationWorld, pass } from "../../testing/conversation-world.ts";
import { createScriptedSubAgent } from "../../testing/scripted-sub-agent.ts";
import { createSimulatedClock, type SimulatedClock } from "../../testing/simulated-clock.ts";
import type { ChatModel } from "../ports/chat-model.ts";
import type { ConversationServiceDeps } from "./conversation-service.ts";

const worlds: ConversationWorld[] = [];
afterEach(async () => {
  for (const { close } of worlds.splice(0)) await close();
});

async function withTime(
  replies: readonly (readonly [text: string, seconds: number])[],
  more: Partial<ConversationServiceDeps> = {},
) {
  const clock = createSimulatedClock();
  const made = await createConversationWorld({ clock, models: [timedModel(clock, replies)], ...more });
  worlds.push(made);
  const stateOf = async (id: string): Promise<string> =>
    (await made.conversationService.conversations.read({ owner: ADA, id })).conversation.state;
  const level = async (): Promise<number> => (await made.conversationService.conversations.energy()).level;
  return { ...made, clock, stateOf, level, pass: (seconds: number) => pass(clock, seconds) };
}

describe("energy and time", () => {
  it("reminds by snoozing: it comes back by itself, and not before its time", async () => {
    const { say, stateOf, answers, story, pass, conversationService } = await withTime([
      [call("snooze_conversation", { minutes: 30, reason: "tell them about the tea" }), 1],
      [call("respond", { content: "Your tea is ready." }), 1],
    ]);
    const id = await say("Remind me of the tea in half an hour");
    await pass(60);
    expect(await stateOf(id)).toBe("snoozed");
    expect(conversationService.status()).toMatchObject({ snoozed: 1, waiting: 0 });
    await pass(28 * 60);
    expect(await answers(id)).toEqual([]);
    await pass(2 * 60);
    expect(await stateOf(id)).toBe("answered");
    expect(await answers(id)).toEqual(["Your tea is ready."]);
    expect((await story(id)).flatMap((body) => (body.kind === "note" ? [body.text] : []))).toEqual([
      expect.stringContaining("Snoozed for 30 minutes") as string,
      expect.stringContaining("tell them about the tea") as string,
    ]);
  });

  it.each([-3_600, 3_600])("reminds in time although the clock is set by %d seconds meanwhile", async (seconds) => {
    const { say, answers, pass, clock } = await withTime([
      [call("snooze_conversation", { minutes: 30, reason: "tea" }), 1],
      [call("respond", { content: "Tea!" }), 1],
    ]);
    const id = await say("Remind me");
    await pass(10 * 60);
    clock.shift(seconds * 1_000);
    await pass(19 * 60);
    expect(await answers(id)).toEqual([]);
    await pass(2 * 60);
    expect(await answers(id)).toEqual(["Tea!"]);
  });

  it.each([
    [-3_600, 30],
    [3_600, 0],
    [0, 20],
  ])("set by %d seconds before a start, the clock has it remind after %d minutes", async (seconds, minutes) => {
    const first = await withTime([[call("snooze_conversation", { minutes: 30, reason: "tea" }), 0]]);
    const id = await first.say("Remind me");
    await first.pass(10 * 60);
    await first.conversationService.stop();
    const { clock, store, world } = first;
    clock.shift(seconds * 1_000);
    const models = [timedModel(clock, [[call("respond", { content: "Tea!" }), 0]])];
    const next = await createConversationWorld({ clock, store, world, models });
    worlds.unshift(next);
    if (minutes > 0) await pass(clock, minutes * 60 - 30);
    expect(await next.answers(id)).toEqual([]);
    await pass(clock, 60);
    expect(await next.answers(id)).toEqual(["Tea!"]);
  });

  it("answers a message that comes while it is snoozed, and still reminds", async () => {
    const { say, answers, pass } = await withTime([
      [call("snooze_conversation", { minutes: 10, reason: "tea" }), 1],
      [call("respond", { content: "Yes, I am here." }), 1],
      [call("respond", { content: "Tea!" }), 1],
    ]);
    const id = await say("Remind me");
    await pass(60);
    await say("Are you there?", { conversationId: id });
    await pass(60);
    expect(await answers(id)).toEqual(["Yes, I am here."]);
    await pass(10 * 60);
    expect(await answers(id)).toEqual(["Yes, I am here.", "Tea!"]);
  });

  it("charges two units a second, gains one a second while idle, and waits until a step can be paid", async () => {
    const { say, stateOf, level, pass, answers, store, world } = await withTime([
      [call("think", { thought: "Long." }), 45],
      [call("think", { thought: "Longer." }), 30],
      [call("respond", { content: "Done." }), 5],
    ]);
    const id = await say("A hard one");
    await pass(44);
    expect(await stateOf(id)).toBe("working");
    await pass(2);
    expect(await level()).toBeLessThan(12);
    // The first call cost 90: the next is expected to cost as much, and at most 50 are asked for.
    expect(await stateOf(id)).toBe("waiting_for_energy");
    await pass(38);
    expect(await stateOf(id)).toBe("waiting_for_energy");
    await pass(36);
    expect(await answers(id)).toEqual([]);
    await pass(300);
    expect(await answers(id)).toEqual(["Done."]);
    await pass(200);
    expect(await level()).toBe(100);
    expect(await store.readLevel()).toBe(100);
    // From full to full again: the ledger's rows come to nothing, exactly.
    const { units, rows } = await world.store.readEnergy({});
    expect({ units: Math.abs(Math.round(units * 1e6)), many: rows > 5 }).toEqual({ units: 0, many: true });
  });

  it("goes on once the level is there that was waited for", async () => {
    const { say, stateOf, pass, answers } = await withTime([
      [call("await_energy", { level: 95 }), 20],
      [call("respond", { content: "Rested." }), 1],
    ]);
    const id = await say("Take your time");
    await pass(25);
    expect(await stateOf(id)).toBe("waiting_for_energy");
    await pass(20);
    expect(await answers(id)).toEqual([]);
    await pass(30);
    expect(await answers(id)).toEqual(["Rested."]);
  });

  it("leads the sub-agent: starts and stops it, drains its energy and its news, pauses it when energy is critical", async () => {
    const agent = createScriptedSubAgent();
    const { level, pass, say, close } = await withTime([["Noted.", 1]], { subAgent: agent });
    worlds.splice(0);
    expect(agent.calls).toEqual(["start"]);
    agent.work(30, { type: "status_update", requestId: "r1", owner: ADA, data: { progress: 40 } });
    await pass(1);
    expect(await level()).toBeLessThan(72);
    agent.work(65, { type: "completion", requestId: "r1", owner: ADA, data: { added: "memory" } });
    await pass(1);
    expect(agent.calls).toEqual(["start", "pause:pause"]);
    await pass(8);
    expect(agent.calls).toEqual(["start", "pause:pause"]);
    await pass(20);
    expect(agent.calls).toEqual(["start", "pause:pause", "resume"]);
    await say("What is new?");
    await pass(30);
    await close();
    expect(agent.calls.at(-1)).toBe("stop");
  });

  it("tells what the sub-agent reported only to those who asked it", async () => {
    const agent = createScriptedSubAgent();
    const prompts: string[] = [];
    const model: ChatModel = {
      id: "listening/model",
      generate: async ({ messages }) => {
        prompts.push(messages.at(-1)?.content ?? "");
        return { text: "Yes.", model: "listening/model", usage: { inputTokens: 1, outputTokens: 1 }, truncated: false };
      },
    };
    const { conversationService, pass } = await withTime([], { subAgent: agent, models: [model] });
    agent.work(1, { type: "completion", requestId: "hers", owner: ADA, data: null });
    agent.work(1, { type: "completion", requestId: "his", owner: "bob", data: null });
    for (const owner of [ADA, "bob", "eve"]) {
      await conversationService.conversations.post({ owner, content: "What is new?" });
      await pass(5);
    }
    expect(prompts.map((prompt) => ["hers", "his"].filter((id) => prompt.includes(`"${id}"`)))).toEqual([
      ["hers"],
      ["his"],
      [],
    ]);
  });

  it("writes at once what the sub-agent has spent: it does not say so twice", async () => {
    const agent = createScriptedSubAgent();
    const { store, pass } = await withTime([["Yes.", 1]], { subAgent: agent, replenishPerSecond: 0 });
    agent.work(30, { type: "status_update", requestId: "r1", owner: ADA, data: null });
    await pass(1);
    expect(await store.readLevel()).toBe(70);
  });
});

/** Answers after that many simulated seconds; the last reply stays. */
function timedModel(clock: SimulatedClock, replies: readonly (readonly [string, number])[]): ChatModel {
  let asked = 0;
  return {
    id: "timed/model",
    generate: async ({ signal }) => {
      const [text, seconds] = replies[Math.min(asked, replies.length - 1)] ?? ["", 0];
      asked += 1;
      await clock.sleep(seconds * 1_000, signal);
      return { text, model: "timed/model", usage: { inputTokens: 1, outputTokens: 1 }, truncated: false };
    },
  };
}
