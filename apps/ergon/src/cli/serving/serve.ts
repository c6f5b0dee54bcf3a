import { ErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import type { Engine } from "@ergon/core/engine";
import { FIRST_PRINCIPAL, readTokenFile } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { StepFollower } from "../output/follow-steps.ts";
import type { Terminal } from "../output/terminal.ts";

export type ServeOptions = GivenToken & {
  readonly port?: string;
  readonly host?: string;
  readonly gateway?: boolean;
  readonly live?: boolean;
};

/** Owns the data folder and serves it until it is asked to stop. */
export async function serve(
  { terminal, signal, compose, endsByStopping }: CommandContext,
  options: ServeOptions,
): Promise<ExitCode> {
  const app = await compose();
  try {
    const { values } = app.settings;
    const port = options.port === undefined ? values.port : portOf(options.port);
    const host = options.host ?? values.host;
    const firstToken = (await givenToken(options, terminal, "ERGON_TOKEN")) ?? values.token;
    const allowedHosts = values.allowedHosts;
    if (!LOOPBACK.has(host) && (firstToken === undefined || allowedHosts.length === 0)) {
      throw usageError(
        "usage",
        `Listening on ${host} needs a token (--token-file or ERGON_TOKEN) and ERGON_ALLOWED_HOSTS.`,
      );
    }
    const listen = { host, port, allowedHosts, ...(firstToken === undefined ? {} : { firstToken }) };
    const openOptions = { recover: true, stays: true, gateway: options.gateway === true, listen };
    const { url, engine } = await app.enter(openOptions).catch((thrown: unknown) => {
      throw isPortTaken(thrown) ? portTaken(host, port) : thrown;
    });
    terminal.print(`ready ${url}`);
    terminal.note(whatNext(url, firstToken === undefined ? "$(npx ergon token show)" : "YOUR_TOKEN"));
    endsByStopping();
    const steps = options.live === true ? await followAll(terminal, engine) : undefined;
    await stopped(signal);
    await steps?.stop();
    return EXIT.ok;
  } finally {
    await app.close();
  }
}

async function followAll(terminal: Terminal, engine: Engine): Promise<StepFollower> {
  const { followSteps } = await import("../output/follow-steps.ts");
  return followSteps(terminal, engine, { owner: FIRST_PRINCIPAL, seen: { seq: "now", at: "" } });
}

export type GivenToken = { readonly token?: string; readonly tokenFile?: string };

/** From a file, or as typed. */
export async function givenToken(
  { token, tokenFile }: GivenToken,
  terminal: Pick<Terminal, "warn">,
  variable: string,
): Promise<string | undefined> {
  if (tokenFile !== undefined) return readTokenFile(tokenFile);
  if (token === undefined) return undefined;
  terminal.warn(
    `other users of this machine can read --token in the list of processes; use --token-file or ${variable}.`,
  );
  return token;
}

export function portOf(given: string): number {
  const port = Number(given);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw usageError("usage", `--port takes a number from 0 to 65535, not "${given}".`);
}

function isPortTaken(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EADDRINUSE";
}

function portTaken(host: string, port: number): ErgonError {
  const message = `Another program listens on ${host}:${String(port)} already. Choose another port: --port ${String(port === 65_535 ? 0 : port + 1)}, or --port 0 for any that is free.`;
  return new ErgonError("port_in_use", message);
}

export const LOOPBACK = new Set(["127.0.0.1", "localhost", "::1"]);

export function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function whatNext(url: string, token: string): string {
  return [
    "Try, in another terminal:",
    "  npx ergon plans                          what can be run",
    `  npx ergon run welcome_team --input '{"names":["Ada","Grace"]}'`,
    `  curl -H "Authorization: Bearer ${token}" ${url}/sessions`,
    `  ${url}/openapi.json describes the rest. Ctrl-C stops; what is unfinished goes on at the next start.`,
  ].join("\n");
}
