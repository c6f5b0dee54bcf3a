import { isBlobRef, type Json, type JsonObject } from "@ergon/core";
import { ownFailure } from "@ergon/core/engine";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { printable } from "../output/printable.ts";
import { startProgressLine } from "../output/progress-line.ts";
import { readArgs } from "../read-args.ts";
import { throughOwner } from "../../workspace/through-owner.ts";

export type CallOptions = { readonly toolId: string; readonly args: string; readonly role?: string };

export async function callTool(context: CommandContext, { toolId, role, ...options }: CallOptions): Promise<ExitCode> {
  const { terminal, signal, compose } = context;
  const args = (await readArgs(options.args, process.stdin)) as JsonObject;
  const app = await compose();
  const progress = startProgressLine(terminal, toolId);
  try {
    const asked = { toolId, args, ...(role === undefined ? {} : { role }) };
    await app.checkCall(asked);
    const call = { owner: FIRST_PRINCIPAL, toolId, args, typed: { role }, signal, progress: progress.update };
    const called = await throughOwner(app, { recover: false, repeatable: false }, ({ engine }) =>
      engine.callTool(call),
    );
    progress.stop();
    if (called.kind !== "finished") throw new Error("The gate asks about a call that counts as approved.");
    const { output } = called;
    if (terminal.json) terminal.printJson({ output });
    else terminal.print(describeOutput(output));
    return ownFailure(output) === undefined ? EXIT.ok : EXIT.failed;
  } finally {
    progress.stop();
    await app.close();
  }
}

function describeOutput(output: Json): string {
  if (typeof output === "string") return printable(output);
  if (isBlobRef(output)) return `a blob of ${output.bytes} bytes (${output.mediaType}), id ${output.$blob}`;
  return printable(JSON.stringify(output, undefined, 2));
}
