import type { StateStore } from "../../ports/state-store.ts";
import type { SessionCore } from "../../schema/session.ts";
import type { EmbeddedEngine } from "./engine.ts";

/**
 * An engine whose answers survive the loss of power, not only the death of the process: for whoever tells them outside
 * of it. What was written meanwhile is synced with them, so those who are answered at the same time share one sync.
 */
export function acknowledging(engine: EmbeddedEngine, store: Pick<StateStore, "sync">): EmbeddedEngine {
  const onDisk = async (answer: Promise<SessionCore>): Promise<SessionCore> => {
    const core = await answer;
    await store.sync();
    return core;
  };
  return {
    ...engine,
    createSession: (request) => onDisk(engine.createSession(request)),
    executePlan: (request) => onDisk(engine.executePlan(request)),
    resume: (request) => onDisk(engine.resume(request)),
    cancel: (request) => onDisk(engine.cancel(request)),
    fork: (request) => onDisk(engine.fork(request)),
    settled: (request) => onDisk(engine.settled(request)),
  };
}
