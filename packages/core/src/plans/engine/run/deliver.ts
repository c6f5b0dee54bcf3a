import type { SessionRef } from "../../../ports/engine.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { MaybePromise } from "../../../tools/tool.ts";
import type { Completion } from "../../transition.ts";
import type { Run } from "./run.ts";
import type { RunPool } from "./run-pool.ts";

/** An answer can meet a run that is just being put down; it is brought to the one that follows. */
export const MAX_DELIVERY_TRIES = 5;

/** Brings a completion to a session's run; undefined when nobody waits for it (any more). */
export async function deliver(
  pool: RunPool,
  session: SessionRef,
  completionFor: (run: Run) => MaybePromise<Completion | undefined>,
): Promise<SessionCore | undefined> {
  for (let tries = 0; tries < MAX_DELIVERY_TRIES; tries++) {
    const run = await pool.take(session);
    try {
      const completion = await completionFor(run);
      if (completion === undefined) return undefined;
      if (await run.deliver(completion)) return run.state.core;
    } finally {
      pool.release(run);
    }
  }
  return undefined;
}
