import { afterEach, describe, expect, it } from "vitest";
import {
  ADA,
  call,
  createConversationWorld,
  type ConversationWorld,
  until,
} from "../../../testing/conversation-world.ts";
import { createScriptedModel, type ScriptedReply } from "../../../testing/scripted-model.ts";
import { MAX_WAITING_MESSAGES } from "../../schema/conversation.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import { MAX_STEPS } from "./choose-next.ts";
import { MAX_ACTIVE_STEPS } from "./sensitive-loop.ts";

const worlds: ConversationWorld[] = [];
afterEach(async () => {
  for (const { close } of worlds.splice(0)) await close();
});

async function withModel(...replies: readonly (ScriptedReply | string)[]) {
  const model = createScriptedModel(replies);
  const made = await createConversationWorld({ models: [model], replenishPerSecond: 0 });
  worlds.push(made);
  return { ...made, model };
}

describe("the sensitive loop", () => {
  it("thinks, calls a tool, and answers with what it found", async () => {
    const { say, settled, story, model, conversationService } = await withModel(
      call("think", { thought: "I should look it up." }),
      call("probe::echo", { value: 42 }),
      call("respond", { content: "It is 42." }),
    );
    const id = await say("What is it?");
    expect(await settled(id)).toMatchObject({
      state: "answered",
      answers: 1,
      thoughts: [{ text: "I should look it up." }],
    });
    expect(await story(id)).toMatchObject([
      { kind: "message", content: "What is it?" },
      { kind: "thought" },
      { kind: "call", tool: "probe::echo" },
      { kind: "result", success: true, text: "42" },
      { kind: "response", content: "It is 42.", by: "scripted/model" },
    ]);
    expect(model.requests[2]?.messages[1]?.content).toContain('"output":"42"');
    const { conversation } = await conversationService.conversations.read({ owner: ADA, id });
    const { level } = await conversationService.conversations.energy();
    expect(100 - level).toBeCloseTo(conversation.energySpent, 6);
  });

  it("shows a model with a small window what its tools found, however much the tools say of themselves", async () => {
    const made = await withModel(call("probe::echo", { value: 42 }), call("respond", { content: "It is 42." }));
    const fields = Array.from({ length: 20 }, (_, n) => [
      `field${String(n)}`,
      { type: "string", description: "x".repeat(60) },
    ]);
    for (let n = 0; n < 30; n += 1) {
      const parameters = { type: "object", properties: Object.fromEntries(fields) as JsonObject } as const;
      const definition = { id: `large::tool${String(n)}`, description: "d".repeat(300), parameters };
      made.world.registry.register({ definition, implementation: async () => n });
    }
    await made.settled(await made.say("What is it?"));
    expect(made.model.requests[1]?.messages[1]?.content).toContain('"output":"42"');
  });

  it("answers without a model through the offline planner, and says so once", async () => {
    const made = await createConversationWorld();
    worlds.push(made);
    const id = await made.say("use probe::echo");
    expect(await made.settled(id)).toMatchObject({ state: "answered" });
    const [first = ""] = await made.answers(id);
    expect(first).toContain("No model is configured");
    await made.say("colour the bicycle purple", { conversationId: id });
    await until(async () => expect(await made.answers(id)).toHaveLength(2));
    expect((await made.answers(id))[1]).not.toContain("No model is configured");
  });

  it("takes plain words for an answer, and gives what it cannot read back to the model", async () => {
    const { say, settled, answers, story } = await withModel('{"tool": "respond", "args": {"con', "Just words.");
    const id = await say("Hello");
    await settled(id);
    expect(await answers(id)).toEqual(["Just words."]);
    expect(await story(id)).toMatchObject([
      {},
      { kind: "result", success: false, text: expect.stringContaining("no whole JSON") as string },
      {},
    ]);
  });

  it("gives a tool's failure back to the model, and stops a call that fails again and again", async () => {
    const failing = call("probe::fail");
    const { say, settled, story, answers } = await withModel(failing);
    const id = await say("Try it");
    await settled(id);
    const done = await story(id);
    expect(done.filter(({ kind }) => kind === "call")).toHaveLength(2);
    expect(done.filter((body) => body.kind === "result" && /not made again/.test(body.text))).toHaveLength(1);
    expect(await answers(id)).toEqual([expect.stringMatching(/same arguments again and again/) as string]);
  });

  it("refuses tools that are not there and arguments that do not fit, with what is wrong", async () => {
    const { say, settled, story } = await withModel(
      call("probe::ecko", {}),
      call("snooze_conversation", { minutes: 1441, reason: "x" }),
      call("respond", { content: "Sorry." }),
    );
    const id = await say("Hello");
    await settled(id);
    expect(await story(id)).toMatchObject([
      {},
      { kind: "result", success: false, text: expect.stringContaining('Did you mean "probe::echo"') as string },
      { kind: "result", success: false, text: expect.stringContaining("minutes") as string },
      { kind: "response" },
    ]);
  });

  it("comes to an end when a model never answers", async () => {
    const { say, settled, answers, model } = await withModel(call("think", { thought: "Hm." }));
    const id = await say("Hello");
    expect(await settled(id)).toMatchObject({ thoughts: expect.objectContaining({ length: 5 }) as unknown });
    expect(model.requests).toHaveLength(MAX_STEPS);
    expect(await answers(id)).toEqual([expect.stringContaining(`${String(MAX_STEPS)} steps`) as string]);
  });

  it("goes on with a follow-up that came while it was answering", async () => {
    const { say, answers, settled } = await withModel(
      { kind: "text", text: call("respond", { content: "One." }), delayMs: 300 },
      call("respond", { content: "Two." }),
    );
    const id = await say("First");
    await until(async () => expect((await settled(id)).state).toBe("answered"));
    await say("Second", { conversationId: id });
    await until(async () => expect(await answers(id)).toEqual(["One.", "Two."]));
  });

  it("shows a model each message that came while it was answering an earlier one", async () => {
    const { say, answers, model } = await withModel(
      { kind: "text", text: call("respond", { content: "One." }), delayMs: 300 },
      call("respond", { content: "Two." }),
    );
    const id = await say("First");
    await until(async () => expect(model.requests).toHaveLength(1));
    for (const content of ["Second", "Third"]) await say(content, { conversationId: id });
    await until(async () => expect(await answers(id)).toEqual(["One.", "Two."]));
    const asked = model.requests.map(
      ({ messages }) => /<message>\n([^]*)\n<\/message>/.exec(messages[1]?.content ?? "")?.[1],
    );
    expect(asked).toEqual(["First", "Second\n\nThird"]);
    expect(model.requests[1]?.messages[1]?.content).not.toContain("There is no new message");
  });

  it("shows a model no more waiting messages at once than fit whole, and the rest after its answer", async () => {
    const { say, answers, model } = await withModel(
      { kind: "text", text: call("respond", { content: "Done." }), delayMs: 300 },
      call("respond", { content: "Done." }),
    );
    const id = await say("First");
    await until(async () => expect(model.requests).toHaveLength(1));
    const long = (letter: string) => letter.repeat(9_000);
    for (const letter of ["b", "c", "d"]) await say(long(letter), { conversationId: id });
    await until(async () => expect(await answers(id)).toHaveLength(3));
    const prompts = model.requests.map(({ messages }) => messages[1]?.content ?? "");
    expect(prompts[1]).toContain(`${long("b")}\n\n${long("c")}`);
    expect(prompts[1]).not.toContain("dddd");
    expect(prompts[2]).toContain(`<message>\n${long("d")}\n</message>`);
  });

  it("acts without a model on each message that was sent while a tool ran, in their order", async () => {
    const made = await createConversationWorld();
    worlds.push(made);
    const id = await made.say("use probe::hold");
    await until(async () => expect(await made.story(id)).toMatchObject([{}, { kind: "call", tool: "probe::hold" }]));
    const later = ["use probe::echo", "use probe::large", "colour the bicycle purple"];
    for (const content of later) await made.say(content, { conversationId: id });
    made.world.release();
    await until(async () => expect(await made.answers(id)).toHaveLength(4));
    expect(await made.settled(id)).toMatchObject({ state: "answered", answers: 4 });
    const calls = (await made.story(id)).flatMap((body) => (body.kind === "call" ? [body.tool] : []));
    expect(calls).toEqual(["probe::hold", "probe::echo", "probe::large"]);
    expect((await made.answers(id)).join()).not.toContain("It is time");
  });

  it("refuses a message for a conversation in which too many wait already", async () => {
    const made = await createConversationWorld();
    worlds.push(made);
    const id = await made.say("use probe::hold");
    await until(async () => expect(await made.story(id)).toHaveLength(2));
    for (let n = 1; n < MAX_WAITING_MESSAGES; n += 1) await made.say("no tool", { conversationId: id });
    const { conversation } = await made.conversationService.conversations.read({ owner: ADA, id });
    expect(conversation.messages).toBe(MAX_WAITING_MESSAGES);
    await expect(made.say("one more", { conversationId: id })).rejects.toMatchObject({
      code: "conversations_full",
      message: expect.stringContaining(String(MAX_WAITING_MESSAGES)) as string,
    });
    made.world.release();
    await until(async () => expect(await made.answers(id)).toHaveLength(MAX_WAITING_MESSAGES));
  });

  it("takes a message once, however often it is sent, and knows owners apart", async () => {
    const { conversationService, settled } = await withModel(call("respond", { content: "Hi." }));
    const { conversations } = conversationService;
    const first = await conversations.post({ owner: ADA, content: "Hello", messageId: "m-1" });
    expect(await conversations.post({ owner: ADA, content: "Hello", messageId: "m-1" })).toEqual(first);
    await settled(first.conversationId);
    expect((await conversations.read({ owner: ADA, id: first.conversationId })).conversation.messages).toBe(1);
    const foreign = { owner: "eve", id: first.conversationId };
    await expect(conversations.read(foreign)).rejects.toMatchObject({ code: "conversation_not_found" });
    await expect(conversations.end({ ...foreign, reason: "x" })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
    await expect(
      conversations.post({ owner: "eve", content: "x", conversationId: first.conversationId }),
    ).rejects.toMatchObject({ code: "conversation_not_found" });
    await expect(conversations.post({ owner: ADA, content: "x", conversationId: "nope" })).rejects.toMatchObject({
      code: "conversation_not_found",
    });
    await expect(conversations.post({ owner: ADA, content: "  " })).rejects.toMatchObject({ code: "input_invalid" });
  });

  it("ends a conversation with a reason, and takes no more for it", async () => {
    const { say, settled, conversationService } = await withModel(call("end_conversation", { reason: "All done." }));
    const id = await say("Bye");
    expect(await settled(id)).toMatchObject({ state: "ended", ended: { reason: "All done." } });
    await expect(say("One more", { conversationId: id })).rejects.toMatchObject({ code: "conversation_ended" });
    await expect(conversationService.conversations.end({ owner: ADA, id, reason: "x" })).rejects.toMatchObject({
      code: "conversation_ended",
    });
  });

  it("lets messages wait while the model is down, says so, and answers when it is back", async () => {
    const { say, conversationService, settled, answers } = await withModel(
      { kind: "status", status: 503 },
      call("respond", { content: "Back again." }),
    );
    const id = await say("Hello?");
    await until(async () => {
      const { conversation } = await conversationService.conversations.read({ owner: ADA, id });
      expect(conversation.state).toBe("waiting_for_model");
    });
    expect(conversationService.status().degraded).toEqual([expect.stringContaining("cannot be asked since") as string]);
    expect(await settled(id)).toMatchObject({ state: "answered" });
    expect(await answers(id)).toEqual(["Back again."]);
    expect(conversationService.status().degraded).toEqual([]);
  });

  it("turns to another conversation when the model says so, and only to one of the same person", async () => {
    const order: string[] = [];
    const replies = new Map([
      ["First", [call("select_conversation", { conversationId: "nobody" }), call("respond", { content: "1" })]],
      ["Second", [call("respond", { content: "2" })]],
    ]);
    const made = await createConversationWorld({
      models: [
        {
          id: "choosy/model",
          generate: async ({ messages }) => {
            const prompt = messages.at(-1)?.content ?? "";
            const who = /<message>\n(\w+)/.exec(prompt)?.[1] ?? "";
            order.push(who);
            const other = /"conversationId": "(conv_\w+)",\s+"title": "Second"/.exec(prompt)?.[1];
            const text = (replies.get(who)?.shift() ?? "").replace("nobody", other ?? "nobody");
            return { text, model: "choosy/model", usage: { inputTokens: 1, outputTokens: 1 }, truncated: false };
          },
        },
      ],
    });
    worlds.push(made);
    const id = await made.say("First");
    await made.settled(id);
    expect(order).toEqual(["First", "First"]);
    expect(await made.story(id)).toMatchObject([
      {},
      { kind: "result", success: false, text: expect.stringContaining("no other open conversation") as string },
      { content: "1" },
    ]);
  });

  it("takes so many steps at once, one for a conversation, and takes messages all the same", async () => {
    const { say, model, conversationService } = await withModel({ kind: "silence" });
    const ids = await Promise.all(Array.from({ length: MAX_ACTIVE_STEPS + 2 }, (_, n) => say(`Question ${String(n)}`)));
    await until(async () => expect(model.requests).toHaveLength(MAX_ACTIVE_STEPS));
    await say("One more thing", { conversationId: ids[0] ?? "" });
    expect(conversationService.status()).toMatchObject({ working: MAX_ACTIVE_STEPS, waiting: 2 });
    expect(model.requests).toHaveLength(MAX_ACTIVE_STEPS);
  });

  it("refuses a conversation more than may wait, and takes follow-ups all the same", async () => {
    const made = await createConversationWorld({
      models: [createScriptedModel([{ kind: "silence" }])],
      maxWanting: 2,
    });
    worlds.push(made);
    const id = await made.say("One");
    await made.say("Two");
    await expect(made.say("Three")).rejects.toMatchObject({ code: "conversations_full", retryable: true });
    expect(await made.say("More of one", { conversationId: id })).toBe(id);
  });

  it("tells what happened once, as events and ledger rows of the conversation's session", async () => {
    const { say, settled, world } = await withModel(call("respond", { content: "Hi." }));
    const id = await say("Hello");
    await settled(id);
    const events = async () =>
      (await world.store.readEvents({ afterSeq: 0, sessionId: id, limit: 100 })).map(({ type }) => type);
    await until(async () => expect(await events()).toContain("response-sent"));
    expect((await events()).filter((type) => type === "message-received" || type === "response-sent")).toHaveLength(2);
  });
});
