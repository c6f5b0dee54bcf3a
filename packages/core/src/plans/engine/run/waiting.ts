import type { SessionRef, Waiting } from "../../../ports/engine.ts";
import type { SessionCore } from "../../../schema/session.ts";
import type { EmbeddedEngine } from "../embedded-engine.ts";

/** The calls of an engine that wait for the session to settle when they are asked to. */
export function waiting(engine: EmbeddedEngine): EmbeddedEngine {
  const settled = ({ owner, sessionId, waitMs = 0, signal }: SessionRef & Waiting): Promise<SessionCore> => {
    const limit = waitMs === Infinity ? {} : { timeoutMs: waitMs };
    return engine.settled({ owner, sessionId, ...limit, ...(signal === undefined ? {} : { signal }) });
  };
  return {
    ...engine,
    executePlan: async (request) => {
      const core = await engine.executePlan(request);
      return request.waitMs === undefined ? core : settled(request);
    },
    resume: async (request) => {
      const core = await engine.resume(request);
      return request.waitMs === undefined ? core : settled(request);
    },
    readSession: async (request) => {
      if (request.waitMs !== undefined) await settled(request);
      return engine.readSession(request);
    },
  };
}
