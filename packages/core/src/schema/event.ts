import { z } from "zod";
import { JsonObject } from "./values/json.ts";

export const EventType = z.enum([
  "session-created",
  "session-started",
  "session-paused",
  "session-resumed",
  "session-completed",
  "session-failed",
  "session-cancelled",
  "step-started",
  "step-progressed",
  "step-finished",
  "step-failed",
  "correction-proposed",
  "correction-applied",
  "approval-requested",
  "approval-decided",
  "energy-spent",
  "energy-replenished",
  "message-received",
  "plan-made",
  "response-sent",
  "server-changed",
  "tools-changed",
  "subagent-progressed",
  "loop-decided",
]);
export type EventType = z.infer<typeof EventType>;

export const NewEvent = z.object({ type: EventType, at: z.string(), data: JsonObject });
export type NewEvent = z.infer<typeof NewEvent>;

export const StoredEvent = NewEvent.extend({
  seq: z.int().positive(),
  owner: z.string(),
  sessionId: z.string().optional(),
});
export type StoredEvent = z.infer<typeof StoredEvent>;
