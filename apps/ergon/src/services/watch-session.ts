import { setTimeout as sleep } from "node:timers/promises";
import type { SessionCore } from "@ergon/core";
import { isSettled } from "@ergon/core/schema";
import type { Engine, SessionRef, SessionView } from "@ergon/core/engine";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { App } from "../workspace/app.ts";
import type { CommandContext } from "../cli/command-context.ts";
import { EXIT, type ExitCode } from "../cli/exit-codes.ts";
import { followSteps, type Seen } from "../cli/output/follow-steps.ts";
import { oneLine } from "../cli/output/printable.ts";
import type { Terminal } from "../cli/output/terminal.ts";
import { exitCodeFor, reportSession } from "../cli/output/session-report.ts";
import { throughOwner } from "../workspace/through-owner.ts";
import { findSession } from "./go-once.ts";

/** How long it is left alone at least, and at most, before it is looked at again. */
const QUIET_POLL_MS = 50;
const MAX_QUIET_WAIT_MS = 60_000;

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
    /** An end without an answer says nothing: what was asked for has been told. */
    readonly isEmptyEndSilent?: boolean;
    /** Shows what its steps did before, too. */
    readonly isShownWhole?: boolean;
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
      seen ??= { seq: 0, at: session.isShownWhole === true ? "" : (before?.updatedAt ?? "") };
      await session.go(engine, before);
      const follower = followSteps(terminal, engine, { owner, sessionId, seen });
      try {
        const core = await untilQuiet(terminal, engine, { owner, sessionId, signal });
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
  const isEmptyEnd = view.core.status === "completed" && (view.context["finalResponse"] ?? null) === null;
  if (!isEmptyEnd || session.isEmptyEndSilent !== true) reportSession(terminal, view);
  return exitCodeFor(view.core);
}

/**
 * Until nothing goes on by itself any more. A session that waits for a person has settled, and yet a step beside that may be
 * tried again soon: this process may be the only one that would.
 */
async function untilQuiet(
  terminal: Terminal,
  engine: Engine,
  session: SessionRef & { readonly signal: AbortSignal },
): Promise<SessionCore> {
  const { signal } = session;
  const told = new Set<string>();
  for (;;) {
    const core = await engine.settled(session);
    const untilMs = Math.min(...core.waiting.map(({ until }) => (until === undefined ? Infinity : Date.parse(until))));
    if (signal.aborted || untilMs === Infinity) return core;
    for (const { path, kind, message } of core.waiting) {
      const line = `${kind === "time" ? "…" : "?"} ${path}: ${oneLine(message)}`;
      if (!told.has(line)) terminal.note(line);
      told.add(line);
    }
    const waitMs = Math.min(Math.max(untilMs - Date.now(), QUIET_POLL_MS), MAX_QUIET_WAIT_MS);
    await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  }
}
