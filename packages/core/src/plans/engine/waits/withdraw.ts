import { toErgonError } from "../../../errors/ergon-error.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { EngineDeps } from "../engine-deps.ts";

/** Nobody waits any more for what a session that ended had asked. What is left open then ends with its time. */
export async function withdrawQuestions(
  { approvals, logger }: Pick<EngineDeps, "approvals" | "logger">,
  { sessionId, waiting }: SessionCore,
): Promise<void> {
  const ids = waiting.flatMap(({ approvalId }) => (approvalId === undefined ? [] : [approvalId]));
  if (approvals === undefined || ids.length === 0) return;
  try {
    await approvals.withdraw(ids);
  } catch (thrown) {
    const error = toErgonError(thrown, "store_unavailable").toJSON();
    logger.warn({ sessionId, error }, "Questions that nobody waits for could not be withdrawn.");
  }
}
