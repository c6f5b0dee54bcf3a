import type { LoopType } from "../schema/refinement.ts";

/** When a loop of one type is good enough, and how many refinements it may ask for. */
export type LoopBounds = { readonly threshold: number; readonly maxIterations: number };
export type LoopBoundsByType = Readonly<Record<LoopType, LoopBounds>>;

export const DEFAULT_LOOP_BOUNDS: LoopBoundsByType = {
  plan: { threshold: 85, maxIterations: 5 },
  spec: { threshold: 85, maxIterations: 5 },
  build_plan: { threshold: 80, maxIterations: 5 },
  build_code: { threshold: 95, maxIterations: 5 },
};
