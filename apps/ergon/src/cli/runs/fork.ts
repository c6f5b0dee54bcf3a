import { createSystemClock, type Json } from "@ergon/core";
import { createIds } from "@ergon/core/store-kit";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import type { ExitCode } from "../exit-codes.ts";
import { readArgs } from "../read-args.ts";
import { forkOnce } from "../../services/go-once.ts";
import { runAndWatch } from "../../services/watch-session.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export type ForkOptions = {
  readonly sessionId: string;
  readonly fromStep: string;
  readonly input: string | undefined;
  readonly repeatOnce: boolean;
};

export async function forkSession(
  context: CommandContext,
  { sessionId: typed, fromStep, input: given, repeatOnce }: ForkOptions,
): Promise<ExitCode> {
  const input = given === undefined ? undefined : ((await readArgs(given, process.stdin, "--input")) as Json);
  const app = await context.compose();
  try {
    const sessionId = await wholeSessionId(app, typed);
    const newSessionId = createIds({ clock: createSystemClock() }).next("ses");
    const changed = input === undefined ? {} : { input };
    const go = forkOnce({ owner: FIRST_PRINCIPAL, sessionId, fromStep, newSessionId, repeatOnce, ...changed });
    let said = false;
    return await runAndWatch(context, app, {
      sessionId: newSessionId,
      go: async (engine, before) => {
        await go(engine, undefined, before);
        if (!said && !context.terminal.json)
          context.terminal.print(`session ${newSessionId}, forked from ${sessionId} at ${fromStep}`);
        said = true;
      },
    });
  } finally {
    await app.close();
  }
}
