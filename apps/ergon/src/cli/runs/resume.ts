import { isErgonError, type Json, type SessionCore } from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readJsonValue } from "../read-args.ts";
import { resumeOnce } from "../../services/go-once.ts";
import { runAndWatch } from "../../services/watch-session.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export type ResumeOptions = { readonly sessionId: string; readonly step?: string; readonly input?: string };

export async function resumeSession(
  context: CommandContext,
  { sessionId: typed, step, input: given }: ResumeOptions,
): Promise<ExitCode> {
  const input = given === undefined ? undefined : ((await readJsonValue(given, process.stdin, "--input")) as Json);
  const app = await context.compose();
  try {
    const sessionId = await wholeSessionId(app, typed);
    const which = step === undefined ? {} : { step };
    const send = resumeOnce({ owner: FIRST_PRINCIPAL, sessionId, ...which, ...(input === undefined ? {} : { input }) });
    return await runAndWatch(context, app, {
      sessionId,
      go: async (engine, before) => {
        // Nobody is asked anything: what an earlier process left is taken up, and followed.
        const follows = input === undefined && step === undefined && goesOn(before);
        try {
          await send(engine, undefined, before);
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
