import type { CommandContext } from "../command-context.ts";
import { diagnose } from "../../services/diagnose.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { printDiagnosis } from "../output/print-diagnosis.ts";

/** Shows every setting, where it came from and what is wrong, with it and with what Ergon finds on this machine. */
export async function examine({ version, terminal, compose }: CommandContext): Promise<ExitCode> {
  const app = await compose({ badSettings: "allowed" });
  const diagnosis = await diagnose(app, version);
  if (terminal.json) terminal.printJson(diagnosis);
  else printDiagnosis(terminal, diagnosis);
  return diagnosis.ok ? EXIT.ok : EXIT.failed;
}
