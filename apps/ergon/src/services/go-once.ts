import { isErgonError, type SessionCore } from "@ergon/core";
import type { OpenWait } from "@ergon/core/schema";
import type { Engine, ExecutePlan, ForkSession, ResumeSession, SessionRef, Waiting } from "@ergon/core/engine";

/**
 * Sets a session going once, through one owner of the folder after another. A request that was sent and not answered is of
 * unknown outcome: the session shows whether it happened, and only one that did not happen is sent again. `before` is the
 * session as it is now, where the caller has just read it.
 */
export type GoOnce = (engine: Going, waiting?: Waiting, before?: SessionCore) => Promise<SessionCore>;

type Going = Pick<Engine, "executePlan" | "resume" | "cancel" | "fork" | "readSession">;

/** Makes the session and starts the plan in it, in one commit: a session that is there has been started. */
export function startOnce(request: ExecutePlan): GoOnce {
  return once({
    ref: request,
    send: (engine, waiting) => engine.executePlan({ ...request, ...waiting, create: true }),
    wasHeard: () => true,
  });
}

export function forkOnce(request: ForkSession & { readonly newSessionId: string }): GoOnce {
  return once({
    ref: { owner: request.owner, sessionId: request.newSessionId },
    send: (engine) => engine.fork(request),
    wasHeard: () => true,
  });
}

/** An answer closes the wait that it is for. */
export function resumeOnce(request: ResumeSession): GoOnce {
  const { step } = request;
  const isMeant = ({ path, stepId }: OpenWait): boolean => step === undefined || path === step || stepId === step;
  return once({
    ref: request,
    looksFirst: true,
    send: (engine, waiting) => engine.resume({ ...request, ...waiting }),
    wasHeard: (then, { waiting }) => !then.some((wait) => isMeant(wait) && waiting.some((open) => isSame(wait, open))),
  });
}

export function cancelOnce(ref: SessionRef): GoOnce {
  return once({ ref, send: (engine) => engine.cancel(ref), wasHeard: (_, { status }) => status === "cancelled" });
}

type Once = {
  readonly ref: SessionRef;
  /** Whether what happened shows only beside the session as it was before. */
  readonly looksFirst?: boolean;
  readonly send: (engine: Going, waiting: Waiting | undefined) => Promise<SessionCore>;
  /** By what the session waited for when the request was sent, and by the session as it is. */
  readonly wasHeard: (then: readonly OpenWait[], now: SessionCore) => boolean;
};

function once({ ref, looksFirst = false, send, wasHeard }: Once): GoOnce {
  let outcome: "unsent" | "unknown" | "heard" = "unsent";
  let then: readonly OpenWait[] = [];
  return async (engine, waiting, before) => {
    const looks = looksFirst || outcome !== "unsent";
    const now = before ?? (looks ? await findSession(engine, ref) : undefined);
    if (now !== undefined && (outcome === "heard" || (outcome === "unknown" && wasHeard(then, now)))) return now;
    outcome = "unsent";
    then = now?.waiting ?? [];
    try {
      const core = await send(engine, waiting);
      outcome = "heard";
      return core;
    } catch (thrown) {
      if (isErgonError(thrown) && thrown.code === "owner_gone" && thrown.details?.["sent"] !== false)
        outcome = "unknown";
      throw thrown;
    }
  };
}

function isSame(wait: OpenWait, now: OpenWait): boolean {
  return wait.path === now.path && wait.since === now.since && wait.kind === now.kind;
}

/** Undefined when there is none. */
export async function findSession(
  engine: Pick<Engine, "readSession">,
  { owner, sessionId }: SessionRef,
): Promise<SessionCore | undefined> {
  try {
    return (await engine.readSession({ owner, sessionId, historyLimit: 1 })).core;
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "session_not_found") return undefined;
    throw thrown;
  }
}
