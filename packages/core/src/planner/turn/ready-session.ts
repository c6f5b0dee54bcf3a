import { isErgonError } from "../../errors/ergon-error.ts";
import type { Engine } from "../../ports/engine.ts";
import type { Mode, SessionCore } from "../../schema/session.ts";

/**
 * The session of a turn, created if there is none: steps can then be followed from the first. Another principal's session
 * is reported as `session_not_found`.
 */
export async function readySession(
  engine: Pick<Engine, "createSession" | "settled">,
  session: { readonly owner: string; readonly sessionId: string; readonly mode: Mode },
): Promise<SessionCore> {
  try {
    return await engine.createSession(session);
  } catch (thrown) {
    if (!isErgonError(thrown) || thrown.code !== "session_conflict") throw thrown;
    const { owner, sessionId } = session;
    return await engine.settled({ owner, sessionId, timeoutMs: 0 });
  }
}
