import { z } from "zod";
import { ProposedCorrection } from "./correction.ts";
import { ErrorRecord } from "./error.ts";
import { Json, JsonSchema } from "./values/json.ts";
import { Effects } from "./tool.ts";

const id = () =>
  z
    .string()
    .min(1)
    .max(128)
    .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/);

export const SessionId = id();
export type SessionId = z.infer<typeof SessionId>;

/** A run's id, given by the caller that starts it and unique per owner: the same id is the same run. */
export const RunId = id();
export type RunId = z.infer<typeof RunId>;

/** Spec 4's six, plus `cancelled`. */
export const SessionStatus = z.enum([
  "running",
  "paused",
  "completed",
  "failed",
  "paused_on_error",
  "paused_on_human",
  "cancelled",
]);
export type SessionStatus = z.infer<typeof SessionStatus>;

/** Spec 1's audiences; they limit which tools a loop may use. */
export const Mode = z.enum(["analyst", "candidate", "hiring", "general"]);
export type Mode = z.infer<typeof Mode>;

export const OpenWait = z.object({
  stepId: z.string(),
  path: z.string(),
  kind: z.enum(["human", "approval", "error", "time", "energy"]),
  message: z.string(),
  inputSchema: JsonSchema.optional(),
  approvalId: z.string().optional(),
  error: ErrorRecord.optional(),
  /** Of a failed step: false while the supervisor sees to it, true once nobody but a person can. */
  needsPerson: z.boolean().optional(),
  correction: ProposedCorrection.optional(),
  since: z.string(),
  /** When it goes on by itself. */
  until: z.string().optional(),
});
export type OpenWait = z.infer<typeof OpenWait>;

export const SessionError = ErrorRecord.extend({
  stepId: z.string().optional(),
  needsPerson: z.boolean().optional(),
});
export type SessionError = z.infer<typeof SessionError>;

export const SessionCore = z.object({
  sessionId: SessionId,
  status: SessionStatus,
  createdAt: z.string(),
  updatedAt: z.string(),
  currentPlanId: z.string().optional(),
  currentStepId: z.string().optional(),
  lastError: SessionError.optional(),
  mode: Mode.optional(),
  waiting: z.array(OpenWait),
  /** Counts the plans that this session has run; part of every idempotency key. */
  run: z.int().nonnegative(),
  /** The id that the latest plan was started with. */
  runId: RunId.optional(),
  energySpent: z.number(),
  energyBudget: z.number().optional(),
  /** The conversation that it works for. */
  conversationId: z.string().optional(),
  /** Where it was forked from. */
  forkedFrom: z.object({ sessionId: SessionId, stepId: z.string() }).optional(),
});
export type SessionCore = z.infer<typeof SessionCore>;

/** Nothing will happen by itself any more: the session has ended, waits for a person, or has no plan. */
export function isSettled(core: SessionCore): boolean {
  if (core.status === "running") return false;
  if (core.status === "paused_on_error") return !core.waiting.some(({ needsPerson }) => needsPerson === false);
  return core.status !== "paused" || core.waiting.length === 0;
}

export const StepResult = z.union([
  z.object({
    output: Json,
    /** When the call was made whose result stands for this one, being the same and still fresh. */
    reused: z.string().exactOptional(),
  }),
  z.object({ error: ErrorRecord }),
]);
export type StepResult = z.infer<typeof StepResult>;

export const HistoryEntry = z.object({
  timestamp: z.string(),
  toolId: z.string(),
  request: Json,
  result: StepResult,
  planStepId: z.string().optional(),
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/**
 * A call that has begun and has no result: under way, or `unknown` when nothing says whether it took effect. Its key is
 * what was sent with it, to look it up where it went.
 */
export const OpenCall = z.object({
  startedAt: z.string(),
  planStepId: z.string().optional(),
  toolId: z.string(),
  request: Json,
  effects: Effects,
  idempotencyKey: z.string(),
  state: z.enum(["running", "unknown"]),
});
export type OpenCall = z.infer<typeof OpenCall>;

export const SessionContext = z.record(z.string(), Json);
export type SessionContext = z.infer<typeof SessionContext>;
