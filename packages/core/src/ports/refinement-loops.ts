import type { LoopReply, LoopState } from "../schema/refinement.ts";

/*
 * Spec 3's four operations, and the whole of a loop. The local form keeps loops in a store; the remote form is a client
 * of the process that does. Every call is made by somebody (`owner`); what another made answers `loop_not_found`.
 */

/** Arguments come as strangers gave them; what is wrong with one is thrown as `loop_validation`. */
export type RefinementLoops = {
  initialize(request: { readonly owner: string; readonly loop_type: unknown }): Promise<LoopReply>;
  decide(request: {
    readonly owner: string;
    readonly loop_id: unknown;
    readonly current_score: unknown;
  }): Promise<LoopReply>;
  status(request: { readonly owner: string; readonly loop_id: unknown }): Promise<LoopReply>;
  /** Oldest first, finished ones included. */
  list(request: { readonly owner: string }): Promise<readonly LoopReply[]>;
  /** The whole state, with every score. */
  read(request: { readonly owner: string; readonly loop_id: unknown }): Promise<LoopState>;
};
