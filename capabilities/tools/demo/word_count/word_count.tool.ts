import type { ToolDefinition } from "@ergon/core";

export const definition: ToolDefinition = {
  id: "demo::word_count",
  title: "Count words",
  description: "Counts the words, lines and characters of a text, in any language.",
  parameters: {
    type: "object",
    properties: { text: { type: "string", maxLength: 1_000_000, description: "The text to count in" } },
    required: ["text"],
    additionalProperties: false,
  },
  outputSchema: {
    type: "object",
    properties: {
      words: { type: "integer", minimum: 0 },
      lines: { type: "integer", minimum: 0 },
      characters: { type: "integer", minimum: 0 },
    },
    required: ["words", "lines", "characters"],
  },
  effects: "pure",
  tags: ["demo", "text"],
};

export type WordCount = { words: number; lines: number; characters: number };

export async function implementation({ text }: { text: string }): Promise<WordCount> {
  let words = 0;
  for (const { isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    if (isWordLike === true) words += 1;
  }
  let characters = 0;
  for (const _ of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) characters += 1;
  return { words, lines: text === "" ? 0 : text.split("\n").length, characters };
}
