import { usageError } from "@ergon/core/schema";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";

/** Works for whoever started this process with a channel. */
export async function serveOrders({ compose, endsByStopping }: CommandContext): Promise<ExitCode> {
  if (process.send === undefined) throw usageError("usage", "Ergon starts its sub-agent itself.");
  const app = await compose();
  endsByStopping();
  await app.serveSubAgent();
  return EXIT.ok;
}
