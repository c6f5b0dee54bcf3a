import { z } from "zod";
import { ErrorRecord } from "./error.ts";
import { Json } from "./values/json.ts";

/** The ways in which the supervisor can help a failed step, in the order in which it tries them. */
export const CorrectionStrategy = z.enum(["retry", "repair_arguments", "alternative_tool", "skip"]);
export type CorrectionStrategy = z.infer<typeof CorrectionStrategy>;

/** One change of the plan, as in JSON Patch; `from` is what stood there. Paths are JSON Pointers into the plan. */
export const PlanChange = z.object({
  op: z.enum(["add", "remove", "replace"]),
  path: z.string(),
  from: Json.optional(),
  value: Json.optional(),
});
export type PlanChange = z.infer<typeof PlanChange>;

/** What a correction puts in place of what the step said. */
export const CorrectedCall = z.object({
  action: z.enum(["retry", "skip"]),
  arguments: z.record(z.string(), Json).optional(),
  toolId: z.string().optional(),
  /** The same call once more, under the same idempotency key. */
  sameKey: z.boolean().optional(),
  delayMs: z.int().nonnegative().optional(),
});
export type CorrectedCall = z.infer<typeof CorrectedCall>;

/**
 * `proposed`: a person must accept it. `accepted`: its session may apply it. `refused`: a person said no. `superseded`:
 * the step was settled in another way first.
 */
export const CorrectionState = z.enum(["proposed", "accepted", "applied", "refused", "superseded"]);
export type CorrectionState = z.infer<typeof CorrectionState>;

/** A correction of one failed visit of a step, as the corrected session keeps it. */
export const Correction = z.object({
  /** The session that runs the correction plan. */
  correctionId: z.string(),
  state: CorrectionState,
  strategy: CorrectionStrategy,
  stepId: z.string(),
  path: z.string(),
  position: z.string(),
  run: z.int().nonnegative(),
  /** One sentence for people. */
  summary: z.string(),
  error: ErrorRecord,
  diff: z.array(PlanChange),
  call: CorrectedCall,
  proposedAt: z.string(),
  settledAt: z.string().optional(),
});
export type Correction = z.infer<typeof Correction>;

/** What an open wait shows of the correction that is meant for it; the session's `corrections` has all of it. */
export const ProposedCorrection = Correction.pick({ correctionId: true, strategy: true, summary: true }).extend({
  accepted: z.boolean(),
});
export type ProposedCorrection = z.infer<typeof ProposedCorrection>;

/** Sessions that run correction plans; nothing else makes ids like these. */
export const CORRECTION_PREFIX = "cor_";

export function isCorrectionSession(sessionId: string): boolean {
  return sessionId.startsWith(CORRECTION_PREFIX);
}
