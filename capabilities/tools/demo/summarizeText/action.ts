import { defineAction } from "@ergon/core";
import { z } from "zod";
import { summarize } from "./summarize.ts";

const MAX_TEXT_LENGTH = 200_000;

/**
 * Summarises a text by its own most telling sentences.
 *
 * Purpose: says what a text is about. Nothing is invented and no model is asked: the summary is made of sentences that
 * are in the text.
 *
 * Inputs: `text`, and `sentences` (how many to keep, 3 by default). The text defaults to `context.lastMessage`.
 *
 * Outputs: `data` with the summary, five keywords and counts; the same, shortened, in `dataForDownstreamPrompt`. Errors:
 * `nothing_to_summarize`.
 *
 * Example: `ergon tools call summarizeText --args '{"text":"The sea is wide. The boat is small.","sentences":1}'`
 *
 * Related actions: `demo::word_count` says how long a text is.
 */
export const summarizeText = defineAction({
  id: "summarizeText",
  title: "Summarize a text",
  description: "Summarizes a text by picking its most telling sentences, without a model.",
  capabilityTags: ["text"],
  tags: ["demo", "summary"],
  suggestedPrerequisites: ["demo::word_count"],
  effects: "pure",
  argsSchema: z.object({
    text: z.string().min(1, "The text is empty").max(MAX_TEXT_LENGTH).describe("The text to summarize"),
    sentences: z.int().min(1).max(50).default(3).describe("How many sentences to keep"),
  }),
  getDefaultArgs: ({ lastMessage }) => (typeof lastMessage === "string" ? { text: lastMessage } : {}),
  actionFn: async ({ args }) => {
    const result = summarize(args.text, args.sentences);
    const { summary, keywords, sentencesInText, sentencesKept } = result;
    if (summary === "") {
      return { success: false, error: { type: "nothing_to_summarize", message: "The text has no sentence in it." } };
    }
    return {
      success: true,
      message: `${sentencesKept} of ${sentencesInText} sentences kept; about ${keywords.join(", ")}.`,
      data: result,
      chatResponse: { message: summary },
      dataForDownstreamPrompt: {
        summarizeText: { dataSummary: summary, structured: { summary, keywords }, truncated: result.truncated },
      },
    };
  },
});
