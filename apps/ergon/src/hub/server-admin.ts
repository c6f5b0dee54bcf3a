import type { Clock, Json } from "@ergon/core";
import type { MCPClientManager } from "@ergon/core/spec";
import { canonicalJson } from "@ergon/core/schema";
import {
  fenceOf,
  hubError,
  type HubServerStatus,
  MCPServerConfig,
  type McpConnector,
  refuseSharedPart,
  type ServerTest,
  type WantedServer,
} from "@ergon/core/hub";
import {
  type FileProblem,
  type InvocationLog,
  ownInAccess,
  readServers,
  type ServerAdmin,
  type WatchedServersFile,
  withoutServer,
  withServer,
  withServerField,
} from "@ergon/node";

export type ServerAdminParts = {
  readonly manager: MCPClientManager;
  readonly connector: McpConnector;
  readonly file: WatchedServersFile;
  readonly log: InvocationLog;
  readonly clock: Clock;
  /** What no fenced server sees. */
  readonly own: readonly string[];
  readonly problems: () => readonly FileProblem[];
  /** Brings the hub to what the file says. */
  readonly reload: () => Promise<void>;
  readonly wanted: (server: MCPServerConfig) => Promise<WantedServer>;
  /** Writes down that a person approved it as it is. */
  readonly approve: (server: MCPServerConfig) => Promise<void>;
  /** Changes a server's entry in the file, and keeps the approval that it had. */
  readonly edit: (serverId: string, change: (text: string) => string) => Promise<void>;
  readonly allToolsReady: () => Promise<void>;
};

/** How long somebody who added a server waits to hear whether it works. */
const ADD_PATIENCE_MS = 30_000;
const TEST_PATIENCE_MS = 90_000;

/** Changes go into the file first; the hub then follows the file. A server that a person typed is approved by it. */
export function createServerAdmin(parts: ServerAdminParts): ServerAdmin {
  const { manager, file, clock } = parts;

  return {
    list: async () => {
      await parts.allToolsReady();
      return { items: manager.getServerStatus().map(noted), file: file.path, problems: [...parts.problems()] };
    },
    add: async (config) => {
      const parsed = MCPServerConfig.safeParse(config);
      if (!parsed.success) throw invalid(parsed.error.issues[0]?.message ?? "It cannot be read.", config.id);
      await refuseTakenName(config.id, config.name);
      await edit(config.id, (text) => withServer(text, config));
      await parts.approve(await writtenAs(parsed.data));
      return follow(config.id);
    },
    change: async (serverId, fields) => {
      await written(serverId);
      // Without a name, its id is its name; what is no text is refused as such below.
      const name = fields["name"] === null ? serverId : fields["name"];
      if (typeof name === "string") await refuseTakenName(serverId, name);
      await edit(serverId, (text) =>
        Object.entries(fields).reduce(
          (changed, [field, value]) =>
            withServerField(changed, serverId, field as keyof MCPServerConfig, value ?? undefined),
          text,
        ),
      );
      return follow(serverId);
    },
    remove: async (serverId) => {
      await file.change((text) => withoutServer(text, serverId));
      await parts.reload();
    },
    approve: async (serverId) => {
      await parts.approve(await written(serverId));
      return follow(serverId);
    },
    test: async (serverId, signal) => {
      const test = await tryOut(await parts.wanted(await written(serverId)), signal);
      // What can be reached now need not wait for its next try.
      if (test.ok && manager.getServerStatus().some(({ id }) => id === serverId)) manager.wake(serverId);
      return test;
    },
    ask: (serverId, question, signal) => manager.ask(serverId, question, signal),
    stats: () => parts.log.stats(),
  };

  async function written(serverId: string): Promise<MCPServerConfig> {
    const { servers, isUnreadable, problems } = await file.read();
    const found = servers.find(({ id }) => id === serverId);
    if (found !== undefined) return found;
    const problem = isUnreadable === true ? problems[0] : problems.find((one) => one.serverId === serverId);
    if (problem !== undefined) {
      const what = isUnreadable === true ? file.path : `The server "${serverId}" of ${file.path}`;
      const message = `${what} cannot be read: ${problem.place}: ${problem.message}`;
      throw hubError("server_config_invalid", message, { details: { problems: [problem] } });
    }
    throw hubError("server_not_found", `${file.path} has no server "${serverId}".`, { details: { serverId } });
  }

  /** Another program may write the file at the same moment: only what was asked for is approved. */
  async function writtenAs(config: MCPServerConfig): Promise<MCPServerConfig> {
    const entry = await written(config.id);
    if (canonicalJson(entry as Json) === canonicalJson(config as Json)) return entry;
    const message = `${file.path} has another entry "${config.id}" than the one just added: it was not approved. Look at it, then: ergon servers approve ${config.id}`;
    throw hubError("server_config_invalid", message, { details: { serverId: config.id } });
  }

  async function refuseTakenName(serverId: string, name: string): Promise<void> {
    const others = (await file.read()).servers.filter(({ id }) => id !== serverId);
    refuseSharedPart(
      name,
      others.map((other) => other.name),
    );
  }

  /** Refuses an edit that would leave this server with a problem; then nothing has changed. */
  async function edit(serverId: string, change: (text: string) => string): Promise<void> {
    await parts.edit(serverId, (text) => {
      const changed = change(text);
      const { servers, problems } = readServers(changed);
      if (!servers.some(({ id }) => id === serverId)) {
        const problem = problems.find((one) => one.serverId === serverId) ?? problems[0];
        throw invalid(problem?.message ?? "It cannot be read.", serverId);
      }
      return changed;
    });
  }

  /** With what its entry means to give it and does not. */
  function noted(status: HubServerStatus): HubServerStatus {
    const hidden = ownInAccess(manager.serverConfig(status.id) ?? {}, parts.own);
    if (hidden.length === 0) return status;
    const note = `its "access" names folders that hold ${hidden.join(" and ")}. That is Ergon's own: "${status.id}" does not see it.`;
    return { ...status, notes: [note] };
  }

  /** The hub does what the file says, and this is what came of it. */
  async function follow(serverId: string): Promise<HubServerStatus> {
    await parts.reload();
    await within(ADD_PATIENCE_MS, manager.startServer(serverId));
    const status = manager.getServerStatus().find(({ id }) => id === serverId);
    if (status !== undefined) return noted(status);
    throw hubError("server_not_found", `There is no MCP server "${serverId}".`, { details: { serverId } });
  }

  async function within(limitMs: number, done: Promise<void>, signal?: AbortSignal): Promise<void> {
    const over = new AbortController();
    const ends = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    await Promise.race([done, clock.sleep(limitMs, ends)]);
    over.abort();
  }

  async function tryOut(server: WantedServer, signal: AbortSignal | undefined): Promise<ServerTest> {
    const { config, secrets = [], credentials = [], problem } = server;
    const base = { id: config.id, name: config.name };
    if (problem !== undefined) {
      const waits = server.needsApproval === undefined ? {} : { needsApproval: true as const };
      const status = { ...base, connected: false, toolCount: 0, lastPing: null, state: "down" } as const;
      return { ok: false, server: { ...status, errors: [problem], ...waits }, tools: [], log: [] };
    }
    const connection = parts.connector.open({ config, secrets, credentials, onChange: () => undefined });
    const startedMs = clock.monotonic();
    try {
      connection.start();
      await within(TEST_PATIENCE_MS, connection.settled(), signal);
      const { state, tools, lastPing, errors, protocol, version, log } = connection.report();
      const connected = state === "ready" || state === "degraded";
      const status: HubServerStatus = {
        ...base,
        connected,
        toolCount: tools.length,
        lastPing,
        errors: [...errors],
        state,
        ...(protocol === undefined ? {} : { protocol }),
        ...(version === undefined ? {} : { version }),
        ...fenceOf(config),
      };
      const readyMs = connected ? { readyMs: Math.round(clock.monotonic() - startedMs) } : {};
      return { ok: connected, server: noted(status), tools: tools.map(({ name }) => name), log: [...log], ...readyMs };
    } finally {
      await connection.stop();
    }
  }
}

function invalid(reason: string, serverId: string): Error {
  return hubError("server_config_invalid", `The server "${serverId}" cannot be kept: ${reason}`, {
    details: { serverId },
  });
}
