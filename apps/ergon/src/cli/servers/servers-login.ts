import { createInterface } from "node:readline/promises";
import { hubError, type WantedServer } from "@ergon/core/hub";
import { allowedServersPath, logIn, openAllowedServers, openServersFile, processEnvironment } from "@ergon/node";
import type { App } from "../../workspace/app.ts";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { wantedServer } from "../../hub/wanted-server.ts";
import { isNamed } from "../../workspace/is-named.ts";
import { testServer } from "./servers.ts";

/** A person logs in with a browser, on this machine or on another; then the server is tried. */
export async function loginServer(context: CommandContext, id: string): Promise<ExitCode> {
  const { terminal, signal } = context;
  const app = await context.compose();
  const server = await serverOf(app, id);
  await app.prepareFolder();
  const wasAsked = await logIn({
    server,
    logins: await app.logins(),
    signal,
    show: ({ href }) => {
      if (terminal.json) terminal.printJson({ authorizationUrl: href });
      else terminal.print(`Open this address and agree:\n\n  ${href}\n`);
    },
    ...(process.stdin.isTTY && !terminal.json ? { typed: typedAddress } : {}),
  });
  if (!wasAsked) terminal.note(`"${id}" asked nobody to log in.`);
  return testServer({ ...context, compose: async () => app }, id);
}

export async function logoutServer(context: CommandContext, id: string): Promise<ExitCode> {
  const { terminal } = context;
  const app = await context.compose();
  const { config } = await serverOf(app, id);
  const logins = await app.logins();
  const removed = config.url !== undefined && (await logins.remove({ serverId: id, url: config.url }));
  if (terminal.json) terminal.printJson({ server: id, removed });
  else terminal.print(removed ? `the login at ${id} is forgotten` : `there is no login at ${id}`);
  return EXIT.ok;
}

async function serverOf({ settings }: App, id: string): Promise<WantedServer> {
  const { mcpConfig } = settings.values;
  const file = openServersFile(mcpConfig);
  const found = (await file.read()).servers.find((server) => server.id === id);
  if (found === undefined) {
    throw hubError("server_not_found", `${file.path} has no server "${id}".`, { details: { serverId: id } });
  }
  const { env: environment } = processEnvironment();
  const allowed = openAllowedServers(allowedServersPath(environment));
  return wantedServer(found, { path: file.path, isNamed: isNamed(settings, "mcpConfig"), allowed, environment });
}

/** The address that the browser was sent to, where it could not reach this machine. */
async function typedAddress(signal: AbortSignal): Promise<URLSearchParams> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  try {
    for (;;) {
      const line = await lines.question("Or paste here the address that you end at: ", { signal });
      if (URL.canParse(line.trim())) return new URL(line.trim()).searchParams;
    }
  } finally {
    lines.close();
  }
}
