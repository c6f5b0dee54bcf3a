import { z } from "zod";
import { ErrorRecord } from "./error.ts";
import { Json } from "./values/json.ts";
import { Effects } from "./tool.ts";

/** A call that a run would make. Arguments and output that are too long to show are left out. */
export const DryCall = z.object({
  path: z.string(),
  stepId: z.string(),
  toolId: z.string(),
  effects: Effects,
  arguments: Json.optional(),
  /** Made from the tool's output schema; the tool was not called. */
  output: Json.optional(),
  energyUnits: z.number(),
  /** Why a person would be asked first. */
  approval: z.string().optional(),
});
export type DryCall = z.infer<typeof DryCall>;

/** A question that a run would put to a person, and the answer that was made up for it. */
export const DryWait = z.object({ path: z.string(), stepId: z.string(), message: z.string(), answer: Json });
export type DryWait = z.infer<typeof DryWait>;

/** A step that could not go on with made-up values. */
export const DryProblem = z.object({
  path: z.string(),
  stepId: z.string(),
  error: ErrorRecord,
  /** It may come from what was made up, and not happen in a real run. */
  unsure: z.boolean(),
});
export type DryProblem = z.infer<typeof DryProblem>;

/** What walking a plan with simulated effects came to. Nothing of it is kept. */
export const DryRunReport = z.object({
  dryRun: z.literal(true),
  planId: z.string(),
  /** The walk came to an end, and no step is sure to fail. */
  ok: z.boolean(),
  calls: z.array(DryCall),
  waits: z.array(DryWait),
  problems: z.array(DryProblem),
  /** Steps that call a tool or ask a person, and to which these values did not lead. */
  notReached: z.array(z.string()),
  /** Tools without an output schema: what they give is taken as null. */
  unknownOutputs: z.array(z.string()),
  energyUnits: z.number(),
  /** Set when the walk was given up: why. */
  stopped: z.string().optional(),
  finalResponse: Json.optional(),
});
export type DryRunReport = z.infer<typeof DryRunReport>;
