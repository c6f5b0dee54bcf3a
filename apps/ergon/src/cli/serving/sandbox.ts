import { usageError } from "@ergon/core/schema";
import { newSecret } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { givenToken, type GivenToken, LOOPBACK, portOf, stopped } from "./serve.ts";

export type SandboxOptions = GivenToken & {
  readonly port?: string;
  readonly host?: string;
  readonly attached?: boolean;
};

/** Serves the sandbox until it is asked to stop; attached, until whoever started it is gone. */
export async function serveCode(
  { terminal, signal, compose, endsByStopping }: CommandContext,
  options: SandboxOptions,
): Promise<ExitCode> {
  const app = await compose();
  const host = options.host ?? "127.0.0.1";
  const given = (await givenToken(options, terminal, "ERGON_SANDBOX_TOKEN")) ?? app.settings.values.sandboxToken;
  if (given === undefined && !LOOPBACK.has(host)) {
    throw usageError("usage", `Listening on ${host} needs a token (--token-file or ERGON_SANDBOX_TOKEN).`);
  }
  const token = given ?? newSecret();
  const port = options.port === undefined ? 0 : portOf(options.port);
  const service = await app.serveSandbox({ host, port, token });
  try {
    terminal.print(`ready ${service.url}`);
    if (options.attached !== true) terminal.note(whatNext(service.url, given === undefined ? token : "YOUR_TOKEN"));
    endsByStopping();
    await (options.attached === true ? Promise.race([stopped(signal), endOfInput()]) : stopped(signal));
    return EXIT.ok;
  } finally {
    await service.close();
  }
}

function endOfInput(): Promise<void> {
  return new Promise((resolve) => {
    process.stdin
      .once("end", resolve)
      .once("close", resolve)
      .once("error", () => resolve());
    process.stdin.resume();
  });
}

function whatNext(url: string, token: string): string {
  return [
    "Let Ergon use it:",
    `  ERGON_SANDBOX_URL=${url} ERGON_SANDBOX_TOKEN=${token} npx ergon serve`,
    "Ctrl-C stops.",
  ].join("\n");
}
