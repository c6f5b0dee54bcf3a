import { z } from "zod";

/** Spec 3's contracts; field names are the spec's, snake case included. */
export const LoopType = z.enum(["plan", "spec", "build_plan", "build_code"]);
export type LoopType = z.infer<typeof LoopType>;

export const LoopStatus = z.enum(["initialized", "in_progress", "refine", "completed", "user_input"]);
export type LoopStatus = z.infer<typeof LoopStatus>;

export const Score = z.int().min(0).max(100);
export type Score = z.infer<typeof Score>;

export const LoopState = z.object({
  id: z.string().length(8),
  loop_type: LoopType,
  status: LoopStatus,
  current_score: Score.nullable(),
  score_history: z.array(Score),
  iteration: z.int().nonnegative(),
  created_at: z.string(),
});
export type LoopState = z.infer<typeof LoopState>;

export const LoopReply = z.object({
  id: z.string(),
  status: LoopStatus,
  score: Score.optional(),
  iteration: z.int().nonnegative().optional(),
  message: z.string().optional(),
});
export type LoopReply = z.infer<typeof LoopReply>;
