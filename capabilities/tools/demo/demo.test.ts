import type { ToolRun } from "@ergon/core";
import { createToolRun } from "@ergon/core/testing";
import { describe, expect, it } from "vitest";
import { implementation as add } from "./add/add.tool.ts";
import { implementation as fail } from "./fail/fail.tool.ts";
import { implementation as greet } from "./greet/greet.tool.ts";
import { implementation as sleep } from "./sleep/sleep.tool.ts";
import { summarizeText } from "./summarizeText/action.ts";
import { implementation as countWords } from "./word_count/word_count.tool.ts";

describe("demo::greet", () => {
  it("greets by name", async () => {
    expect(await greet({ who: "Ada" })).toEqual({ greeting: "Hello, Ada!" });
    expect(await greet({ who: "Ada", greeting: "Salut" })).toEqual({ greeting: "Salut, Ada!" });
  });
});

describe("demo::add", () => {
  it("adds", async () => {
    expect(await add({ a: 1.5, b: -2 })).toEqual({ sum: -0.5 });
  });

  it("does not answer with what is no number", async () => {
    await expect(add({ a: Number.MAX_VALUE, b: Number.MAX_VALUE })).rejects.toThrow("too large");
  });
});

describe("demo::word_count", () => {
  it.each([
    ["", { words: 0, lines: 0, characters: 0 }],
    ["one, two.\nthree", { words: 3, lines: 2, characters: 15 }],
    ["👩‍👩‍👧 ça va", { words: 2, lines: 1, characters: 7 }],
  ])("counts in %j", async (text, counts) => {
    expect(await countWords({ text })).toEqual(counts);
  });
});

describe("demo::sleep", () => {
  it("sleeps, and says how far it is", async () => {
    const { run, fractions } = running();
    expect(await sleep({ ms: 20 }, run)).toEqual({ sleptMs: 20 });
    expect(fractions).toHaveLength(20);
    expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
  });

  it("wakes at once when it is cancelled, before or under way", async () => {
    const early = running();
    early.controller.abort(new Error("enough"));
    await expect(sleep({ ms: 60_000 }, early.run)).rejects.toThrow("enough");
    const late = running();
    setTimeout(() => late.controller.abort(new Error("enough")), 10);
    await expect(sleep({ ms: 60_000 }, late.run)).rejects.toThrow("enough");
  });
});

describe("demo::fail", () => {
  it("fails with the message it is given", async () => {
    await expect(fail({ message: "no luck" })).rejects.toThrow("no luck");
    await expect(fail({})).rejects.toThrow("as asked");
  });
});

describe("summarizeText", () => {
  it("answers with the summary, for people and for the next prompt", async () => {
    const args = { text: "Energy is spent. It rains. Energy comes back when energy rests.", sentences: 1 };
    const summary = "Energy comes back when energy rests.";
    expect(await summarizeText.actionFn({ args, context: {}, supabase: undefined }, running().run)).toMatchObject({
      success: true,
      data: { summary, sentencesInText: 3, sentencesKept: 1 },
      chatResponse: { message: summary },
      dataForDownstreamPrompt: { summarizeText: { structured: { summary }, truncated: false } },
    });
  });

  it("says what is wrong with a text that has nothing in it", async () => {
    const request = { args: { text: " ", sentences: 1 }, context: {}, supabase: undefined };
    expect(await summarizeText.actionFn(request, running().run)).toMatchObject({
      success: false,
      error: { type: "nothing_to_summarize" },
    });
  });

  it("takes its text from the last message, and copes without one", () => {
    expect(summarizeText.getDefaultArgs?.({ lastMessage: "A text." })).toEqual({ text: "A text." });
    expect(summarizeText.getDefaultArgs?.({})).toEqual({});
    expect(summarizeText.getDefaultArgs?.({ lastMessage: 5 })).toEqual({});
  });
});

function running() {
  const controller = new AbortController();
  const fractions: number[] = [];
  const progress: ToolRun["progress"] = ({ fraction }) => void fractions.push(fraction ?? 0);
  const run = createToolRun({ signal: controller.signal, progress });
  return { controller, fractions, run };
}
