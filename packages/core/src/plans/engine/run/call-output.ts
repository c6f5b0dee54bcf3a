import { thrownFrom } from "../../../errors/ergon-error.ts";
import { gateError } from "../../../errors/gate.ts";
import type { Engine, SessionRef } from "../../../ports/engine.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { Json } from "../../../schema/values/json.ts";

/** The output of a session that called a single tool. Throws the error with which the call failed. */
export async function callOutput(
  engine: Pick<Engine, "readSession">,
  { status, lastError }: SessionCore,
  ref: SessionRef,
): Promise<Json> {
  if (lastError !== undefined) throw thrownFrom(lastError);
  const { history } = await engine.readSession({ ...ref, historyLimit: 1 });
  const result = history.at(-1)?.result;
  if (status === "completed" && result !== undefined && "output" in result) return result.output;
  throw gateError("cancelled", `The session ${ref.sessionId} of this call is ${status}.`);
}
