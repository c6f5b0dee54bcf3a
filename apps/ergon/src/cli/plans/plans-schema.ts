import { planJsonSchema } from "@ergon/core/engine";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

export async function printPlanSchema({ terminal }: CommandContext): Promise<ExitCode> {
  if (terminal.json) terminal.printJson(planJsonSchema());
  else terminal.print(JSON.stringify(planJsonSchema(), undefined, 2));
  return EXIT.ok;
}
