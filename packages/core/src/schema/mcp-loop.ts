import { z } from "zod";
import { Json, JsonObject } from "./values/json.ts";
import { Mode, OpenWait, SessionId } from "./session.ts";

export const MAX_MESSAGES = 1_000;
export const MAX_MESSAGE_CHARS = 100_000;
export const MAX_RECOMMENDATIONS = 100;
export const MAX_AVAILABLE_TOOLS = 10_000;
export const MAX_CALLER_ACTIONS = 50;

/** Spec 1's contracts. */
export const ChatMessage = z.object({
  role: z.enum(["user", "assistant", "system"]),
  content: z.string().max(MAX_MESSAGE_CHARS),
});
export type ChatMessage = z.infer<typeof ChatMessage>;

export const PlannedAction = z.object({
  tool: z.string().min(1),
  args: z.record(z.string(), Json),
  reason: z.string().optional(),
  announcement: z.string().optional(),
});
export type PlannedAction = z.infer<typeof PlannedAction>;

export const ActionResult = z.object({
  tool: z.string(),
  input: Json,
  output: Json,
  success: z.boolean(),
  error: z.string().optional(),
  /** The error's code, or the type that an action gave its own failure. */
  code: z.string().optional(),
  /** An earlier result of the same call was still fresh, and stands for this one. */
  reused: z.boolean().optional(),
});
export type ActionResult = z.infer<typeof ActionResult>;

/** Over a wire `availableTools` is a list of names; in the library it may hold whole tools. */
export const MCPRequest = z.object({
  mode: Mode,
  sessionId: SessionId,
  messages: z.array(ChatMessage).max(MAX_MESSAGES),
  context: z.record(z.string(), Json).optional(),
  plannerRecommendations: z.array(Json).max(MAX_RECOMMENDATIONS).optional(),
  availableTools: z.array(z.string()).max(MAX_AVAILABLE_TOOLS).optional(),
  /** A plan that the caller made: checked whole, then run in place of one that is made here. */
  plan: z.array(PlannedAction).max(MAX_CALLER_ACTIONS).optional(),
  /**
   * Who plans. `caller`: the planning prompt is given back, for a model of the caller's; `either`: only where the planner
   * here is unsure. Nothing runs then; the same message comes again with `plan`.
   */
  planBy: z.enum(["ergon", "caller", "either"]).optional(),
  /** Unknown tools are refused instead of left out, and the first tool that fails ends the run. */
  strict: z.boolean().optional(),
});
export type MCPRequest = z.infer<typeof MCPRequest>;

/**
 * What a turn came to. `answered`: everything that was planned succeeded; `partial`: some of it did, or a part of the
 * message was left out; `failed`: none of it did; `waiting`: a person has to answer or allow something first.
 */
export const Outcome = z.enum(["answered", "partial", "failed", "waiting"]);
export type Outcome = z.infer<typeof Outcome>;

export const MCPResponseData = z.object({
  context: z.record(z.string(), Json),
  intermediateResults: z.array(ActionResult),
  plan: z.array(PlannedAction),
  semanticMatches: z.array(Json).optional(),
  summaryMessage: z.string().optional(),
  outcome: Outcome,
  /** What the turn waits for, with the id of each approval. */
  waiting: z.array(OpenWait).optional(),
  /** What a model of the caller's has to read to make the plan; nothing has run. */
  planningPrompt: z.object({ system: z.string(), user: z.string() }).optional(),
  trace: JsonObject,
});
export type MCPResponseData = z.infer<typeof MCPResponseData>;

export const MCPResponse = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true), data: MCPResponseData }),
  z.object({
    success: z.literal(false),
    error: z.string(),
    code: z.string().optional(),
    data: MCPResponseData.partial().optional(),
  }),
]);
export type MCPResponse = z.infer<typeof MCPResponse>;
