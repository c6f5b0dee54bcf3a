import { type Engine, isErgonError, isSettled, type SessionCore, type SessionRef, type SessionView } from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { App } from "./app.ts";
import type { CommandContext } from "./command-context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { followSteps, type Seen } from "./output/follow-steps.ts";
import { exitCodeFor, reportSession } from "./output/session-report.ts";
import { throughOwner } from "./through-owner.ts";

/**
 * Sets a session going and follows it until it has settled, whichever process drives it. `go` is asked anew with every
 * owner of the folder, and sees from the session whether an earlier one has heard it.
 */
export async function runAndWatch(
  { terminal, signal }: CommandContext,
  app: App,
  session: {
    readonly sessionId: string;
    /** Whose it is; the person's own when absent. */
    readonly owner?: string;
    readonly go: (engine: Engine, before: SessionCore | undefined) => Promise<void>;
  },
): Promise<ExitCode> {
  const { sessionId, owner = FIRST_PRINCIPAL } = session;
  let seen: Seen | undefined;
  const view = await throughOwner(
    app,
    { recover: true, repeatable: true },
    async ({ engine }): Promise<SessionView> => {
      const before = await findSession(engine, { owner, sessionId });
      seen ??= { seq: 0, at: before?.updatedAt ?? "" };
      await session.go(engine, before);
      const follower = followSteps(terminal, engine, { owner, sessionId, seen });
      try {
        const core = await engine.settled({ owner, sessionId, signal });
        if (isSettled(core)) await follower.caughtUp(core.updatedAt);
        return await engine.readSession({ owner, sessionId });
      } finally {
        await follower.stop();
      }
    },
  );
  if (!isSettled(view.core) && signal.aborted) {
    if (terminal.json) terminal.printJson({ sessionId, core: view.core });
    terminal.note(
      `Session ${sessionId} had not finished; what is left of it goes on with the next ergon serve, run or resume on this data folder.`,
    );
    return EXIT.interrupted;
  }
  reportSession(terminal, view);
  return exitCodeFor(view.core);
}

/** Undefined when there is none: a request whose answer was lost may have made it. */
async function findSession(engine: Engine, session: SessionRef): Promise<SessionCore | undefined> {
  try {
    return (await engine.readSession({ ...session, historyLimit: 1 })).core;
  } catch (thrown) {
    if (isErgonError(thrown) && thrown.code === "session_not_found") return undefined;
    throw thrown;
  }
}
