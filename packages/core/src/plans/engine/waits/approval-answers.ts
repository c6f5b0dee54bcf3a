import { isErgonError } from "../../../errors/ergon-error.ts";
import { planError } from "../../../errors/plan.ts";
import type { Approval } from "../../../schema/approval.ts";
import { answerTo } from "./ask-person.ts";
import { deliver } from "../run/deliver.ts";
import type { EngineDeps } from "../engine-deps.ts";
import type { RunPool } from "../run/run-pool.ts";
import { placedWaits } from "./waits.ts";

/** Brings a person's answer to the session that waits for it. A session that does not (any more) is left as it is. */
export type SettleApproval = (approval: Approval) => Promise<void>;

export function createSettleApproval({
  deps,
  pool,
}: {
  readonly deps: EngineDeps;
  readonly pool: RunPool;
}): SettleApproval {
  return async (approval) => {
    const { id, owner, sessionId } = approval;
    if (sessionId === undefined) return;
    try {
      const told = await deliver(pool, { owner, sessionId }, ({ state: { plan, cursor } }) => {
        const waiting = placedWaits(plan, cursor).find(({ wait }) => wait.approvalId === id);
        return waiting === undefined ? undefined : answerTo(waiting, id, approval, deps.clock.now());
      });
      if (told === undefined) await refuseWhileOpen(approval, sessionId);
    } catch (thrown) {
      // It has ended, or what asks has not even been written: then it looks for the answer itself.
      if (isErgonError(thrown) && (thrown.code === "wait_not_open" || thrown.code === "session_not_found")) return;
      throw thrown;
    }
  };

  /** The session waits and did not take the answer: the engine begins nothing new. */
  async function refuseWhileOpen({ id }: Approval, sessionId: string): Promise<void> {
    const record = await deps.store.readSession(sessionId);
    if (record?.core.waiting.some(({ approvalId }) => approvalId === id) !== true) return;
    throw planError("engine_stopping", "Ergon is shutting down; the answer is heard at the next start.", {
      retryable: true,
    });
  }
}
