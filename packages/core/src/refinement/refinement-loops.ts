/*
 * Deciding is `decide`'s, keeping is the store's; here arguments are checked, ids are given, and what goes wrong gets
 * one of the spec's errors.
 */
import { isErgonError } from "../errors/ergon-error.ts";
import { LoopNotFoundError, LoopStateError } from "../errors/refinement.ts";
import { type Clock, isoTime } from "../ports/clock.ts";
import type { LoopStore } from "../ports/loop-store.ts";
import type { RefinementLoops } from "../ports/refinement-loops.ts";
import type { LoopState, LoopType, Score } from "../schema/refinement.ts";
import { type Decision, decide } from "./decide.ts";
import { checkLoopId, checkLoopType, checkScore } from "./loop-arguments.ts";
import type { LoopBoundsByType } from "./loop-bounds.ts";
import { loopReply } from "./loop-reply.ts";

export type LoopDecided = Decision & {
  readonly owner: string;
  readonly id: string;
  readonly loop_type: LoopType;
  readonly score: Score;
};

export type RefinementLoopsDeps = {
  readonly store: LoopStore;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly bounds: LoopBoundsByType;
  /** Where loops are kept, for the message about one that is not there. */
  readonly where?: string;
  /** Told of every decision; must not throw. */
  readonly onDecided?: (decided: LoopDecided) => void;
};

/** Ids that are taken already are given up on after this many; with eight random digits two are rare. */
export const MAX_ID_ATTEMPTS = 5;

export function createRefinementLoops({
  store,
  clock,
  newId,
  bounds,
  where,
  onDecided,
}: RefinementLoopsDeps): RefinementLoops {
  const notFound = (id: string): Error => new LoopNotFoundError(id, where === undefined ? {} : { where });
  return {
    initialize: async ({ owner, loop_type: given }) => {
      const loop_type = checkLoopType(given);
      for (let attempt = 1; ; attempt += 1) {
        const id = newId();
        const loop: LoopState = {
          id,
          loop_type,
          status: "initialized",
          current_score: null,
          score_history: [],
          iteration: 0,
          created_at: isoTime(clock),
        };
        try {
          await guarded(id, "initialize", () => store.add(owner, loop));
          return loopReply(loop, bounds[loop_type]);
        } catch (thrown) {
          const taken = isErgonError(thrown) && thrown.code === "loop_already_exists";
          if (!taken || attempt >= MAX_ID_ATTEMPTS) throw thrown;
        }
      }
    },
    decide: async ({ owner, loop_id, current_score }) => {
      const id = checkLoopId(loop_id);
      const score = checkScore(current_score);
      let made: Decision | undefined;
      const changed = await guarded(id, "decide", () =>
        store.change({ owner, id }, (loop) => {
          made = decide(loop, score, bounds[loop.loop_type]);
          const { status, iteration } = made;
          return { score, status, iteration };
        }),
      );
      if (changed === undefined || made === undefined) throw notFound(id);
      const { loop_type } = changed;
      onDecided?.({ ...made, owner, id, loop_type, score });
      return loopReply(changed, bounds[loop_type], made.why);
    },
    status: async (request) => {
      const loop = await read(request);
      return loopReply(loop, bounds[loop.loop_type]);
    },
    list: async ({ owner }) => {
      const loops = await guarded("all", "list", () => store.list(owner));
      return loops.map((loop) => loopReply(loop, bounds[loop.loop_type]));
    },
    read,
  };

  async function read({ owner, loop_id }: { readonly owner: string; readonly loop_id: unknown }): Promise<LoopState> {
    const id = checkLoopId(loop_id);
    const loop = await guarded(id, "read", () => store.read({ owner, id }));
    if (loop === undefined) throw notFound(id);
    return loop;
  }
}

/** What the store throws that is none of the spec's errors becomes its `LoopStateError`. */
async function guarded<T>(loopId: string, operation: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code.startsWith("loop_")) throw thrown;
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    const retryable = isErgonError(thrown) && thrown.retryable;
    throw new LoopStateError(loopId, operation, `The loop's state could not be used: ${why}`, {
      cause: thrown,
      retryable,
    });
  }
}
