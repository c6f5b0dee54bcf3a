import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { throughOwner } from "../../workspace/through-owner.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export async function cancelSession({ terminal, compose }: CommandContext, given: string): Promise<ExitCode> {
  const app = await compose();
  let asked = false;
  try {
    const sessionId = await wholeSessionId(app, given);
    const session = { owner: FIRST_PRINCIPAL, sessionId };
    const core = await throughOwner(app, { recover: false, repeatable: true }, async ({ engine }) => {
      // An owner that died may have carried it out before it could say so.
      const before = asked ? (await engine.readSession({ ...session, historyLimit: 1 })).core : undefined;
      asked = true;
      return before?.status === "cancelled" ? before : await engine.cancel(session);
    });
    if (terminal.json) terminal.printJson({ sessionId, core });
    else terminal.print(`session ${sessionId} ${core.status}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}
