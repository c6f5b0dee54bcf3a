import type { Json } from "@ergon/core";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readJsonValue } from "../read-args.ts";
import { runAndWatch } from "../watch-session.ts";

export type ResumeOptions = { readonly sessionId: string; readonly step?: string; readonly input?: string };

export async function resumeSession(
  context: CommandContext,
  { sessionId, step, input: given }: ResumeOptions,
): Promise<ExitCode> {
  const input = given === undefined ? undefined : ((await readJsonValue(given, process.stdin, "--input")) as Json);
  const app = await context.compose();
  try {
    return await runAndWatch(context, app, {
      sessionId,
      go: async (engine) => {
        await engine.resume({
          owner: FIRST_PRINCIPAL,
          sessionId,
          ...(step === undefined ? {} : { step }),
          ...(input === undefined ? {} : { input }),
        });
      },
    });
  } finally {
    await app.close();
  }
}
