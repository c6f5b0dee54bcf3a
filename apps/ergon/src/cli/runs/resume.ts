import { isErgonError, type Json, type OpenWait, type SessionCore } from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readJsonValue } from "../read-args.ts";
import { runAndWatch } from "../../services/watch-session.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export type ResumeOptions = { readonly sessionId: string; readonly step?: string; readonly input?: string };

export async function resumeSession(
  context: CommandContext,
  { sessionId: typed, step, input: given }: ResumeOptions,
): Promise<ExitCode> {
  const input = given === undefined ? undefined : ((await readJsonValue(given, process.stdin, "--input")) as Json);
  const app = await context.compose();
  let asked: readonly OpenWait[] | undefined;
  try {
    const sessionId = await wholeSessionId(app, typed);
    return await runAndWatch(context, app, {
      sessionId,
      go: async (engine, before) => {
        const open = before?.waiting ?? [];
        // An owner that died may have heard the answer: then the wait that it was for is gone.
        if (asked?.some((wait) => isFor(wait, step) && open.some((now) => isSame(wait, now))) === false) return;
        asked ??= open;
        // Nobody is asked anything: what an earlier process left is taken up, and followed.
        const follows = input === undefined && step === undefined && goesOn(before);
        try {
          await engine.resume({
            owner: FIRST_PRINCIPAL,
            sessionId,
            ...(step === undefined ? {} : { step }),
            ...(input === undefined ? {} : { input }),
          });
        } catch (thrown) {
          if (!follows || !isErgonError(thrown) || thrown.code !== "wait_not_open") throw thrown;
        }
      },
    });
  } finally {
    await app.close();
  }
}

function goesOn(session: SessionCore | undefined): boolean {
  if (session?.status === "running") return session.waiting.every(({ kind }) => kind === "time");
  return session?.status === "paused" && session.waiting.length > 0;
}

function isFor({ path, stepId }: OpenWait, step: string | undefined): boolean {
  return step === undefined || path === step || stepId === step;
}

function isSame(wait: OpenWait, now: OpenWait): boolean {
  return wait.path === now.path && wait.since === now.since && wait.kind === now.kind;
}
