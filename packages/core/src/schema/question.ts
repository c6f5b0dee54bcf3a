import { z } from "zod";
import { Json, JsonSchema } from "./values/json.ts";

/** A call can be answered this many questions; a tool that goes on asking has failed. */
export const MAX_QUESTIONS = 8;

/**
 * What a tool has to know from a person before it can do its work. It fails with `input_required` and this as details; where
 * somebody can be asked, the call is made again with the answer.
 */
export const Question = z.object({
  /** The same for the same question: the next call finds its answer by it. */
  key: z.string().min(1).max(200),
  message: z.string().max(10_000),
  /** What an answer looks like. */
  inputSchema: JsonSchema.optional(),
  /** Where the person has to go; the answer says only that they have been there. */
  url: z.string().optional(),
});
export type Question = z.infer<typeof Question>;

/** `null`: the person does not want to say. */
export const GivenAnswer = z.object({ key: z.string(), input: Json });
export type GivenAnswer = z.infer<typeof GivenAnswer>;
