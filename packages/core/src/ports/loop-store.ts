import type { LoopState, LoopStatus, Score } from "../schema/refinement.ts";

/*
 * Where refinement loops are kept. Every call is made for somebody (`owner`).
 *
 * Q1  An owner's loops are a queue: past `keepPerOwner` the oldest is dropped, whatever its status.
 * Q2  No owner sees, changes or drops another's loops; two owners may have the same id.
 * Q3  `change` reads and writes as one: of two at the same time the second sees what the first wrote.
 * Q4  A refused call changes nothing.
 * Q5  Past `maxOwners` the owner that was silent longest is forgotten: processes come and go, each with a name of its own.
 */
export type LoopStore = {
  /** Throws `loop_already_exists`. */
  add(owner: string, loop: LoopState): Promise<void>;
  /** Undefined when the owner has no such loop. */
  read(ref: LoopRef): Promise<LoopState | undefined>;
  /** Oldest first. */
  list(owner: string): Promise<readonly LoopSummary[]>;
  /** Appends a score and sets what follows from it. Undefined when there is no such loop; what `decide` throws passes. */
  change(ref: LoopRef, decide: (loop: LoopSoFar) => LoopChange): Promise<LoopSummary | undefined>;
  close(): Promise<void>;
};

export type LoopRef = { readonly owner: string; readonly id: string };

/** A loop without its story, which has no bound. */
export type LoopSummary = Omit<LoopState, "score_history">;

/** What a decision is made from: a loop and its last scores, at most `RECENT_SCORES`, the newest last. */
export type LoopSoFar = LoopSummary & { readonly recent_scores: readonly Score[] };

export const RECENT_SCORES = 2;

type LoopChange = { readonly score: Score; readonly status: LoopStatus; readonly iteration: number };

export type LoopKeeping = { readonly keepPerOwner: number; readonly maxOwners?: number };

export const MAX_LOOP_OWNERS = 10_000;
