import { expect, it } from "vitest";
import { MAX_SENTENCES, summarize } from "./summarize.ts";

const text =
  "Energy is the budget of every agent. The weather was fine. Each agent spends energy when a tool runs. " +
  "When energy is low, the agent waits. Somebody laughed.";

it("keeps the sentences that the text is about, in their order", () => {
  expect(summarize(text, 2)).toEqual({
    summary: "Each agent spends energy when a tool runs. When energy is low, the agent waits.",
    keywords: ["agent", "energy", "when", "budget", "each"],
    sentencesInText: 5,
    sentencesKept: 2,
    truncated: false,
  });
});

it("keeps everything when asked for more than there is", () => {
  expect(summarize("One thing. Another thing.", 10)).toMatchObject({
    summary: "One thing. Another thing.",
    sentencesKept: 2,
  });
});

it("answers with nothing for a text without sentences", () => {
  expect(summarize("  \n ", 3)).toMatchObject({ summary: "", keywords: [], sentencesInText: 0 });
});

it("reads other scripts", () => {
  expect(summarize("能量是预算。天气很好。每个代理都花费能量。", 1).summary).toContain("能量");
});

it("looks at as many sentences as it may, and says when there were more", () => {
  const many = (count: number) => "A longer sentence stands here. ".repeat(count);
  expect(summarize(many(MAX_SENTENCES), 1).truncated).toBe(false);
  expect(summarize(many(MAX_SENTENCES + 1), 1)).toMatchObject({ truncated: true, sentencesInText: MAX_SENTENCES + 1 });
});
