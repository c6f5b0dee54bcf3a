import { z } from "zod";
import { ErrorRecord } from "./error.ts";
import { Json } from "./values/json.ts";
import { SessionStatus } from "./session.ts";

/** One call of one of the two runs. Values that are too long to show are left out. */
export const DiffCall = z.object({
  toolId: z.string(),
  state: z.enum(["started", "finished", "failed", "unknown"]),
  arguments: Json.optional(),
  output: Json.optional(),
  error: ErrorRecord.optional(),
  durationMs: z.number().optional(),
  energyUnits: z.number(),
});
export type DiffCall = z.infer<typeof DiffCall>;

export const DiffStep = z.object({
  /** `each[3]/greet`; with `#2` where a step was visited again. */
  path: z.string(),
  change: z.enum(["same", "changed", "only_a", "only_b"]),
  /** What differs; time and energy differ always, and do not count. */
  differs: z.array(z.enum(["tool", "state", "arguments", "output", "error"])),
  a: DiffCall.optional(),
  b: DiffCall.optional(),
});
export type DiffStep = z.infer<typeof DiffStep>;

const DiffSide = z.object({
  sessionId: z.string(),
  status: SessionStatus,
  planId: z.string().optional(),
  forkedFrom: z.object({ sessionId: z.string(), stepId: z.string() }).optional(),
  calls: z.int().nonnegative(),
  energyUnits: z.number(),
  /** From the first call's start to the last one's end. */
  durationMs: z.number(),
});
export type DiffSide = z.infer<typeof DiffSide>;

const DiffValue = z.object({
  key: z.string(),
  change: z.enum(["changed", "only_a", "only_b"]),
  a: Json.optional(),
  b: Json.optional(),
});
export type DiffValue = z.infer<typeof DiffValue>;

/** The latest runs of two sessions, call by call, and what they left in the context. */
export const RunDiff = z.object({
  a: DiffSide,
  b: DiffSide,
  same: z.int().nonnegative(),
  changed: z.int().nonnegative(),
  onlyA: z.int().nonnegative(),
  onlyB: z.int().nonnegative(),
  steps: z.array(DiffStep),
  /** Keys of the context that differ; `finalResponse` is one of them. */
  context: z.array(DiffValue),
  /** There is more than is shown, or than was read. */
  isCut: z.boolean(),
});
export type RunDiff = z.infer<typeof RunDiff>;
