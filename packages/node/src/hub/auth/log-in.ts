import { silentLogger } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { hubError, type Login, type LoginStore, type WantedServer } from "@ergon/core/hub";
import { createMcpConnector } from "../connection/connector.ts";
import { openRedirectListener, type ListenerOptions } from "./redirect-listener.ts";

export type LogInParts = {
  readonly server: WantedServer;
  readonly logins: LoginStore;
  /** Puts the address before a person; never opens it. */
  readonly show: (address: URL) => void;
  /** Where the person's browser is on another machine: the address that it ended at, as they typed it. */
  readonly typed?: (signal: AbortSignal) => Promise<URLSearchParams>;
  readonly signal: AbortSignal;
};

/** Logs a person in at a server and keeps what the login left. False: the server lets everybody in, or knows us already. */
export async function logIn({ server, logins, show, typed, signal }: LogInParts): Promise<boolean> {
  const { config, secrets = [], credentials = [], problem } = server;
  const { id, url, oauth } = config;
  if (problem !== undefined) throw hubError("login_failed", problem, { details: { serverId: id } });
  if (url === undefined) {
    throw usageError("input_invalid", `"${id}" is started by a command; logins are for servers with a url.`);
  }
  const listener = await openRedirectListener(portWish(oauth?.redirectPort, await logins.read({ serverId: id, url })));
  let wasAsked = false;
  const connector = createMcpConnector({
    logger: silentLogger,
    logins,
    desk: {
      redirectUrl: listener.redirectUrl,
      ask: (address, over) => {
        wasAsked = true;
        show(address);
        return Promise.race([listener.came(over), ...(typed === undefined ? [] : [typed(over)])]);
      },
    },
  });
  const connection = connector.open({ config, secrets, credentials, onChange: () => undefined });
  const stop = () => void connection.stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    connection.start();
    await connection.settled();
    signal.throwIfAborted();
    const { state, errors } = connection.report();
    if (state === "ready" || state === "degraded") return wasAsked;
    throw hubError("login_failed", errors.at(-1) ?? `The server "${id}" cannot be reached.`, {
      details: { serverId: id },
    });
  } finally {
    signal.removeEventListener("abort", stop);
    await connection.stop();
    listener.close();
  }
}

/** The port of the last registration: an authorization server that knows it need not be told of another. */
function portWish(required: number | undefined, login: Login | undefined): ListenerOptions {
  if (required !== undefined) return { port: required, isRequired: true };
  const [address] = (login?.client?.["redirect_uris"] ?? []) as readonly unknown[];
  const port = typeof address === "string" && URL.canParse(address) ? Number(new URL(address).port) : 0;
  return { port };
}
