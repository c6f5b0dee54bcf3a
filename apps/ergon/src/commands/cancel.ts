import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export async function cancelSession({ terminal, compose }: CommandContext, sessionId: string): Promise<ExitCode> {
  const app = await compose();
  try {
    const { engine } = await app.enter({ recover: false });
    const core = await engine.cancel({ owner: FIRST_PRINCIPAL, sessionId });
    if (terminal.json) terminal.printJson({ sessionId, core });
    else terminal.print(`session ${sessionId} ${core.status}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}
