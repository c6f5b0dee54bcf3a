import { z } from "zod";
import { Json, JsonObject } from "./values/json.ts";

/** Spec 2's answer of an action. */
export const ActionResponse = z.object({
  success: z.boolean(),
  message: z.string().optional(),
  data: Json.optional(),
  error: z.object({ type: z.string(), message: z.string(), details: Json.optional() }).optional(),
  actionsTaken: z
    .array(
      z.object({
        tool: z.string(),
        reason: z.string().optional(),
        result: Json.optional(),
        confidence: z.number().optional(),
        inputs: JsonObject.optional(),
        timestamp: z.string().optional(),
      }),
    )
    .optional(),
  nextActions: z
    .array(z.object({ type: z.string(), description: z.string(), priority: z.string().optional() }))
    .optional(),
  chatResponse: z
    .object({
      message: z.string(),
      followUpQuestion: z.string().optional(),
      aiPrompt: z.string().optional(),
      promptDetails: JsonObject.optional(),
    })
    .optional(),
  dataForDownstreamPrompt: z
    .record(z.string(), z.object({ dataSummary: z.string(), structured: Json, truncated: z.boolean() }))
    .optional(),
});
export type ActionResponse = z.infer<typeof ActionResponse>;
