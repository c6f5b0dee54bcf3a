import type { ChatModel, Logger } from "@ergon/core";
import { hubError, type LoginStore, type MCPServerConfig, type McpConnector } from "@ergon/core/hub";
import { createServerLogin, type LoginPrompt, type ServerLogin } from "../auth/server-login.ts";
import { createCallSlots, HUB_SLOTS } from "../call/call-slots.ts";
import type { ServerAddress } from "./connect-server.ts";
import type { FenceOptions } from "../process/fenced-command.ts";
import { createGuard } from "./guard.ts";
import type { KnownEras } from "./known-eras.ts";
import { hideInText, hideInValue } from "../call/hide-secrets.ts";
import type { Elicit } from "../call/questions.ts";
import { createServerConnection, type ServerConnectionDeps } from "./server-connection.ts";

export type ConnectorDeps = {
  /** Somebody who is there to answer what servers ask. Without, a call ends with the question. */
  readonly elicit?: Elicit;
  readonly logger: Logger;
  /** Lent to servers that are trusted. */
  readonly model?: ChatModel;
  /** What was found out at earlier starts. */
  readonly eras?: KnownEras;
  /** Without one, servers that want a login are refused what they want. */
  readonly logins?: LoginStore;
  /** Where a person is there to log in. */
  readonly desk?: LoginPrompt;
  /** What fenced servers never see, and where they live. */
  readonly fence?: FenceOptions;
};

/** Connections by pipes and by HTTP, with one guard and one global limit for all of them. */
export function createMcpConnector(deps: ConnectorDeps): McpConnector {
  const { logger, elicit } = deps;
  const guard = createGuard();
  const hubSlots = createCallSlots("The hub", HUB_SLOTS);
  return {
    open: ({ config, secrets, credentials = [], onChange, onOffersChanged }) => {
      const login = loginOf(config, deps);
      const era = deps.eras?.find(config);
      return createServerConnection({
        serverId: config.id,
        address: addressOf(config, deps.fence),
        guard,
        hubSlots,
        model: modelFor(config, deps.model),
        logger,
        onChange,
        onOffersChanged,
        redact: hideInText(() => [...secrets, ...(login?.secrets() ?? [])]),
        redactValue: hideInValue(() => [...credentials, ...(login?.secrets() ?? [])]),
        timeoutMs: config.timeoutMs,
        era,
        onEra: (found) => deps.eras?.note(config, found),
        elicit,
        login,
      });
    },
  };
}

function modelFor({ id, trusted }: MCPServerConfig, model: ChatModel | undefined): ServerConnectionDeps["model"] {
  if (trusted !== true)
    return { refusal: `Ergon lends its model to trusted servers; its configuration does not call "${id}" trusted.` };
  return model ?? { refusal: "Ergon has no model to lend: none is configured (ERGON_MODEL)." };
}

/** A server whose configuration says how its callers show who they are has no need of another way. */
function loginOf({ id, url, headers = {}, oauth }: MCPServerConfig, deps: ConnectorDeps): ServerLogin | undefined {
  if (url === undefined || deps.logins === undefined) return undefined;
  if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) return undefined;
  return createServerLogin({ serverId: id, url, store: deps.logins, settings: oauth, desk: deps.desk });
}

function addressOf(config: MCPServerConfig, fence?: FenceOptions): ServerAddress {
  const { id, command, args = [], env = {}, cwd, access, url, headers = {} } = config;
  if (command !== undefined) {
    return { kind: "command", command, args, env, cwd, access, fence };
  }
  if (url !== undefined) return { kind: "url", url, headers };
  const message = `The server "${id}" has neither a command nor a url.`;
  throw hubError("server_config_invalid", message, { details: { serverId: id } });
}
