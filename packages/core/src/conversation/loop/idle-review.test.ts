import { afterEach, describe, expect, it } from "vitest";
import {
  ADA,
  call,
  createConversationWorld,
  type ConversationWorld,
  pass,
} from "../../../testing/conversation-world.ts";
import { createSimulatedClock } from "../../../testing/simulated-clock.ts";
import type { ChatModel } from "../../ports/chat-model.ts";
import { MAX_REVIEWED, reviewedAt } from "./idle-review.ts";
import type { ConversationServiceDeps } from "../conversation-service.ts";

const MINUTE = 60;
let world: ConversationWorld;
afterEach(() => world.close());

/** Answers each message; when it looks back, it does what the test says. */
async function withReviews(onReview: (prompt: string) => string, more: Partial<ConversationServiceDeps> = {}) {
  const clock = createSimulatedClock();
  const reviews: string[] = [];
  const model: ChatModel = {
    id: "reviewing/model",
    generate: async ({ messages, signal }) => {
      await clock.sleep(1_000, signal);
      const [system = "", prompt = ""] = messages.map(({ content }) => content);
      const isReview = system.includes("Nobody waits for you now");
      if (isReview) reviews.push(prompt);
      const answer = prompt.includes("Taken up again") ? "I forgot to say: it is noon." : "Yes.";
      const text = isReview ? onReview(prompt) : call("respond", { content: answer });
      return { text, model: "reviewing/model", usage: { inputTokens: 1, outputTokens: 1 }, truncated: false };
    },
  };
  world = await createConversationWorld({ clock, models: [model], reviewEveryMs: 10 * MINUTE * 1_000, ...more });
  return { clock, reviews, passes: (seconds: number) => pass(clock, seconds) };
}

const nothing = (): string => call("none");
const idsIn = (prompt: string): readonly string[] =>
  [...prompt.matchAll(/"conversationId":\s*"(conv_\w+)"/g)].map(([, id = ""]) => id);

describe("what the loop does with its leisure", () => {
  it("looks at what it answered, takes up what deserves it, and does so once", async () => {
    const { reviews, passes } = await withReviews((prompt) =>
      call("select_conversation", { conversationId: idsIn(prompt)[0] ?? "" }),
    );
    const id = await world.say("What time is it?");
    await passes(9 * MINUTE);
    expect(reviews).toEqual([]);
    await passes(2 * MINUTE);
    expect(reviews).toHaveLength(1);
    expect(await world.answers(id)).toEqual(["Yes.", "I forgot to say: it is noon."]);
    await passes(60 * MINUTE);
    expect(reviews).toHaveLength(1);
    await world.say("Thanks!", { conversationId: id });
    await passes(15 * MINUTE);
    expect(reviews).toHaveLength(2);
  });

  it("is off unless it was turned on", async () => {
    const { reviews, passes } = await withReviews(nothing, { reviewEveryMs: 0 });
    await world.say("What time is it?");
    await passes(120 * MINUTE);
    expect(reviews).toEqual([]);
  });

  it("shows a model conversations of one person at a time, and pays for it from the pool", async () => {
    const { reviews, passes } = await withReviews(nothing);
    const hers = await world.say("Mine");
    await passes(MINUTE);
    const { conversationId: his } = await world.conversationService.conversations.post({
      owner: "bob",
      content: "His",
    });
    await passes(25 * MINUTE);
    expect(reviews.map(idsIn)).toEqual([[his], [hers]]);
    const rows = await world.world.store.readEvents({ afterSeq: 0, limit: 1_000 });
    const spent = rows.filter(({ type, data }) => type === "energy-spent" && data["cause"] === "review");
    expect(spent.map(({ data }) => data["units"])).toEqual([2, 2]);
    expect(
      (await world.conversationService.conversations.read({ owner: ADA, id: hers })).conversation.energySpent,
    ).toBe(2);
  });

  it("looks at fewer when there is less energy, and at no more than twenty", async () => {
    expect([100, 60, 2, -50].map(reviewedAt)).toEqual([MAX_REVIEWED, 12, 1, 1]);
    const { reviews, passes } = await withReviews(nothing);
    for (let n = 0; n < MAX_REVIEWED + 2; n++) await world.say(`Question ${String(n)}`);
    await passes(30 * MINUTE);
    expect(reviews.map((prompt) => idsIn(prompt).length)).toEqual([MAX_REVIEWED, 2]);
  });
});
