import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { cancelOnce } from "../../services/go-once.ts";
import { throughOwner } from "../../workspace/through-owner.ts";
import { wholeSessionId } from "../../services/whole-id.ts";

export async function cancelSession({ terminal, compose }: CommandContext, given: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const sessionId = await wholeSessionId(app, given);
    const go = cancelOnce({ owner: FIRST_PRINCIPAL, sessionId });
    const core = await throughOwner(app, { recover: false, repeatable: true }, ({ engine }) => go(engine));
    if (terminal.json) terminal.printJson({ sessionId, core });
    else terminal.print(`session ${sessionId} ${core.status}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}
