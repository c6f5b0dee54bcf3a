/*
 * Ends a session, also one that cannot be brought back. Covered by engine-contract.test.ts, races.test.ts and cursor.test.ts.
 */
import { isErgonError, toErgonError } from "../../../errors/ergon-error.ts";
import { planError } from "../../../errors/plan.ts";
import { isoTime } from "../../../ports/clock.ts";
import type { SessionRef } from "../../../ports/engine.ts";
import type { ContextWrite, SessionRecord } from "../../../ports/state-store.ts";
import type { SessionCore } from "../../../schema/session.ts";
import { cursorOf } from "../../cursor.ts";
import type { EngineDeps } from "../engine-deps.ts";
import { trailEnd } from "../history/run-trail.ts";
import { withdrawQuestions } from "../waits/withdraw.ts";
import { MAX_DELIVERY_TRIES } from "./deliver.ts";
import type { RunPool } from "./run-pool.ts";

export type CancelParts = {
  readonly deps: EngineDeps;
  readonly pool: RunPool;
  readonly record: (session: SessionRef) => Promise<SessionRecord>;
  readonly isClosing: () => boolean;
};

export function createCancel({
  deps,
  pool,
  record: recordOf,
  isClosing,
}: CancelParts): (session: SessionRef) => Promise<SessionCore> {
  return cancel;

  async function cancel({ owner, sessionId }: SessionRef): Promise<SessionCore> {
    for (let tries = 0; tries < MAX_DELIVERY_TRIES; tries++) {
      const record = await recordOf({ owner, sessionId });
      if (record.cursor === null) return cancelUnstarted(record);
      const run = await pool.take({ owner, sessionId }).catch((thrown: unknown) => {
        if (isClosing() || (isErgonError(thrown) && thrown.code === "store_newer")) throw thrown;
        // What it needs to go on is lost; to end it, nothing is needed.
        deps.logger.warn(
          { sessionId, error: toErgonError(thrown, "session_broken").toJSON() },
          "A session that cannot be taken up is cancelled.",
        );
        return undefined;
      });
      if (run === undefined) return writeCancelled(record);
      if (await run.cancel()) return run.state.core;
      pool.release(run);
    }
    throw planError("session_busy", `Session ${sessionId} changes too fast to be cancelled; try again.`, {
      retryable: true,
    });
  }

  async function cancelUnstarted(record: SessionRecord): Promise<SessionCore> {
    const { sessionId, status } = record.core;
    if (status !== "paused")
      throw planError("session_ended", `Session ${sessionId} has ended already (${status}).`, { details: { status } });
    return writeCancelled(record);
  }

  async function writeCancelled(record: SessionRecord): Promise<SessionCore> {
    const { sessionId } = record.core;
    const at = isoTime(deps.clock);
    const core: SessionCore = { ...record.core, status: "cancelled", updatedAt: at, waiting: [] };
    await deps.store.commit({
      sessionId,
      owner: record.owner,
      session: { core, cursor: null },
      expectVersion: record.version,
      context: lastOfTrail(record),
      events: [{ type: "session-cancelled", at, data: { status: "cancelled" } }],
      durable: true,
    });
    await withdrawQuestions(deps, record.core);
    return core;
  }
}

/** A cursor that cannot be read leaves the trail without its end. */
function lastOfTrail(record: SessionRecord): readonly ContextWrite[] {
  try {
    const cursor = cursorOf(record);
    return cursor === null ? [] : [trailEnd(cursor)];
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "store_corrupt") return [];
    throw thrown;
  }
}
