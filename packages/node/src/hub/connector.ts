import { hubError, type Logger, type MCPServerConfig, type McpConnector } from "@ergon/core";
import { createCallSlots, HUB_SLOTS } from "./call-slots.ts";
import type { ConnectionOptions, ServerAddress } from "./connect-server.ts";
import { createGuard } from "./guard.ts";
import { createServerConnection } from "./server-connection.ts";

export type ConnectorDeps = Pick<ConnectionOptions, "elicit"> & { readonly logger: Logger };

/** Connections by pipes and by HTTP, with one guard and one global limit for all of them. */
export function createMcpConnector({ logger, elicit }: ConnectorDeps): McpConnector {
  const guard = createGuard();
  const hubSlots = createCallSlots("The hub", HUB_SLOTS);
  return {
    open: ({ config, secrets, onChange }) =>
      createServerConnection({
        serverId: config.id,
        address: addressOf(config),
        guard,
        hubSlots,
        logger,
        onChange,
        redact: redactor(secrets),
        ...(config.timeoutMs === undefined ? {} : { timeoutMs: config.timeoutMs }),
        ...(elicit === undefined ? {} : { elicit }),
      }),
  };
}

function addressOf({ id, command, args = [], env = {}, cwd, url, headers = {} }: MCPServerConfig): ServerAddress {
  if (command !== undefined) return { kind: "command", command, args, env, ...(cwd === undefined ? {} : { cwd }) };
  if (url !== undefined) return { kind: "url", url, headers };
  const message = `The server "${id}" has neither a command nor a url.`;
  throw hubError("server_config_invalid", message, { details: { serverId: id } });
}

/** Short values occur by chance in any text; hiding those would hide everything. */
const MIN_SECRET_CHARS = 6;

function redactor(secrets: readonly string[]): (text: string) => string {
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARS).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text);
}
