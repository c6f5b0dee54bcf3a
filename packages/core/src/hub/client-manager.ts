/*
 * Spec 5's MCPClientManager: which servers are wanted, and which of their tools are in the registry. How a server is
 * reached and kept alive is the connector's; whether a call may be made is the gate's.
 *
 * 1  Nothing waits for a slow server: servers start side by side, at most so many at once.
 * 2  The registry holds exactly the tools that wanted servers list; a tool that did not change is not touched.
 * 3  A server or a tool that cannot be taken in is told of in the server's status and disturbs no other.
 */
import { toErgonError } from "../errors/ergon-error.ts";
import { hubError } from "../errors/hub.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ConnectionReport, ConnectionState, McpConnection, McpConnector } from "../ports/mcp-connector.ts";
import { MCPServerConfig, type MCPTool, type ServerStatus } from "../schema/hub.ts";
import { didYouMean } from "../schema/suggest.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import { hubTool, type HubTool } from "./hub-tool.ts";
import { nameTools, refuseSharedPart, serverPart } from "./names.ts";

const MAX_SERVERS = 200;
/** So many servers are started at once; the rest wait their turn. */
const START_CONCURRENCY = 8;
/** How long a repeated call waits for a server that fell. */
const BACK_PATIENCE_MS = 15_000;
const MAX_STATUS_ERRORS = 20;

/** Spec 5's status, and what people ask next. */
export type HubServerStatus = ServerStatus & {
  readonly state: ConnectionState | "disabled";
  readonly nextTryAt?: string;
  readonly protocol?: "legacy" | "modern";
  readonly version?: string;
};

export type HubChange =
  | { readonly kind: "server"; readonly status: HubServerStatus }
  | {
      readonly kind: "tools";
      readonly serverId: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    };

export type ClientManagerDeps = {
  readonly connector: McpConnector;
  readonly registry: Pick<ToolRegistry, "register" | "unregister">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly estimateUnits?: (tool: Tool) => number;
  readonly onChange?: (change: HubChange) => void;
};

/** One server's place in the hub. Its secrets are what its configuration's references stand for. */
export type WantedServer = {
  readonly config: MCPServerConfig;
  readonly secrets?: readonly string[];
  readonly problem?: string;
};

type Place = {
  readonly wanted: WantedServer;
  readonly part: string;
  readonly connection: McpConnection | undefined;
  /** By name, what of it is in the registry. */
  readonly registered: Map<string, HubTool>;
  refusals: readonly string[];
};

export class MCPClientManager {
  readonly #deps: ClientManagerDeps;
  readonly #places = new Map<string, Place>();
  readonly #queue: McpConnection[] = [];
  #starting = 0;

  constructor(deps: ClientManagerDeps) {
    this.#deps = deps;
  }

  /** Takes these servers in and begins to start them; resolves when each is ready or has failed once. */
  async initialize(servers: readonly (MCPServerConfig | WantedServer)[]): Promise<void> {
    const connections = servers.map((server) => {
      try {
        return this.#take(wantedServer(server));
      } catch (thrown) {
        // One that cannot be taken in is no reason to do without the others.
        this.#deps.logger.warn(
          { reason: toErgonError(thrown, "server_config_invalid").message },
          "a server was refused",
        );
        return undefined;
      }
    });
    await Promise.all(connections.flatMap((connection) => (connection === undefined ? [] : [connection.settled()])));
  }

  discoverTools(): Promise<MCPTool[]> {
    const tools: MCPTool[] = [];
    for (const { wanted, registered } of this.#places.values()) {
      for (const { tool } of registered.values()) {
        const { id, description, parameters } = tool;
        const serverId = wanted.config.id;
        const units = this.#deps.estimateUnits?.(tool);
        const cost = units === undefined ? {} : { estimatedEnergyCost: units };
        tools.push({ name: id, description, serverId, serverName: wanted.config.name, parameters, ...cost });
      }
    }
    return Promise.resolve(tools.sort((a, b) => (a.name < b.name ? -1 : 1)));
  }

  /** Sends a call to the server whose tool this is. Callers that are to be checked and charged come by the gate. */
  async invokeTool(
    toolName: string,
    params: unknown,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const place = [...this.#places.values()].find(({ registered }) => registered.has(toolName));
    const found = place?.registered.get(toolName);
    if (found === undefined) {
      const known = [...this.#places.values()].flatMap(({ registered }) => [...registered.keys()]);
      const message = `No MCP server has a tool "${toolName}".${didYouMean(toolName, known)}`;
      throw hubError("server_not_found", message, { details: { toolName } });
    }
    const body = await found.tool.body();
    const validated = body.validateArgs((params ?? {}) as Record<string, unknown>);
    if (!validated.ok) {
      const [first] = validated.issues;
      const message = `The arguments of "${toolName}" are not valid: ${first?.path ?? ""} ${first?.message ?? ""}`;
      throw hubError("server_refused", message, { details: { issues: validated.issues } });
    }
    const signal = options.signal ?? new AbortController().signal;
    return found.invoke(validated.value, { signal, progress: () => undefined });
  }

  /** Refuses with a typed error what cannot be taken in; else begins to start it. */
  async addServer(config: MCPServerConfig | WantedServer): Promise<void> {
    await this.#take(wantedServer(config))?.settled();
  }

  async removeServer(serverId: string): Promise<void> {
    const place = this.#places.get(serverId);
    if (place === undefined) throw this.#notFound(serverId);
    this.#places.delete(serverId);
    const waiting = place.connection === undefined ? -1 : this.#queue.indexOf(place.connection);
    if (waiting >= 0) this.#queue.splice(waiting, 1);
    this.#register(place, []);
    await place.connection?.stop();
    this.#tell({ kind: "server", status: { ...statusOf(place), state: "disabled", connected: false } });
  }

  getServerStatus(): HubServerStatus[] {
    return [...this.#places.values()].map(statusOf).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** What a server printed last. */
  serverLog(serverId: string): readonly string[] {
    const place = this.#places.get(serverId);
    if (place === undefined) throw this.#notFound(serverId);
    return place.connection?.report().log ?? [];
  }

  wake(serverId: string): void {
    const place = this.#places.get(serverId);
    if (place === undefined) throw this.#notFound(serverId);
    place.connection?.wake();
  }

  async close(): Promise<void> {
    this.#queue.length = 0;
    const places = [...this.#places.values()];
    this.#places.clear();
    for (const place of places) this.#register(place, []);
    await Promise.all(places.flatMap(({ connection }) => (connection === undefined ? [] : [connection.stop()])));
  }

  #take(wanted: WantedServer): McpConnection | undefined {
    const config = MCPServerConfig.safeParse(wanted.config);
    if (!config.success) {
      const issue = config.error.issues[0];
      const message = `The server's configuration is not valid: ${issue?.path.join(".") ?? ""} ${issue?.message ?? ""}`;
      throw hubError("server_config_invalid", message, {
        details: { issues: config.error.issues.slice(0, MAX_STATUS_ERRORS) },
      });
    }
    const { id, name, enabled } = wanted.config;
    if (this.#places.has(id))
      throw hubError("server_duplicate", `There is a server "${id}" already.`, { details: { serverId: id } });
    if (this.#places.size >= MAX_SERVERS) {
      const message = `"${id}" is one server too many: ${String(MAX_SERVERS)} is the limit.`;
      throw hubError("server_config_invalid", message, { details: { serverId: id } });
    }
    refuseSharedPart(
      name,
      [...this.#places.values()].map((place) => place.wanted.config.name),
    );
    const usable = enabled && wanted.problem === undefined;
    const connection = usable ? this.#open(id, wanted) : undefined;
    const place: Place = { wanted, part: serverPart(name), connection, registered: new Map(), refusals: [] };
    this.#places.set(id, place);
    if (connection !== undefined) this.#queue.push(connection);
    this.#startNext();
    return connection;
  }

  #open(serverId: string, { config, secrets = [] }: WantedServer): McpConnection {
    return this.#deps.connector.open({
      config,
      secrets,
      onChange: (report) => {
        const place = this.#places.get(serverId);
        if (place === undefined) return;
        this.#register(place, report.tools, report);
        this.#tell({ kind: "server", status: statusOf(place) });
      },
    });
  }

  #startNext(): void {
    while (this.#starting < START_CONCURRENCY) {
      const next = this.#queue.shift();
      if (next === undefined) return;
      this.#starting += 1;
      next.start();
      void next.settled().then(() => {
        this.#starting -= 1;
        this.#startNext();
      });
    }
  }

  /** Brings the registry to what the server lists now. */
  #register(place: Place, listed: ConnectionReport["tools"], report?: ConnectionReport): void {
    const { registry } = this.#deps;
    const { connection, registered, wanted } = place;
    const refusals: string[] = [];
    const { named, collisions } = nameTools(place.part, listed);
    for (const { name, toolNames } of collisions) {
      const both = toolNames.map((toolName) => `"${toolName}"`).join(" and ");
      refusals.push(`Its tools ${both} would both be named "${name}"; neither can be called.`);
    }
    const added: string[] = [];
    const removed: string[] = [];
    const kept = new Set<string>();
    for (const [name, tool] of named) {
      if (connection === undefined) break;
      try {
        const made = hubTool(name, tool, {
          config: wanted.config,
          call: connection.call,
          back: () => this.#back(connection),
          ...(report?.version === undefined ? {} : { version: report.version }),
        });
        const earlier = registered.get(name);
        kept.add(name);
        if (earlier !== undefined && isSame(earlier.tool, made.tool)) continue;
        if (earlier !== undefined) registry.unregister(name);
        registered.delete(name);
        registry.register(made.tool);
        registered.set(name, made);
        added.push(name);
      } catch (thrown) {
        refusals.push(toErgonError(thrown, "server_refused").message);
      }
    }
    for (const name of registered.keys()) {
      if (kept.has(name)) continue;
      registry.unregister(name);
      registered.delete(name);
      removed.push(name);
    }
    place.refusals = refusals.slice(0, MAX_STATUS_ERRORS);
    if (added.length + removed.length > 0) this.#tell({ kind: "tools", serverId: wanted.config.id, added, removed });
  }

  async #back(connection: McpConnection): Promise<boolean> {
    const patience = Promise.withResolvers<void>();
    const stop = this.#deps.clock.after(BACK_PATIENCE_MS, patience.resolve);
    connection.wake();
    await Promise.race([connection.settled(), patience.promise]);
    stop();
    return ["ready", "degraded"].includes(connection.report().state);
  }

  #tell(change: HubChange): void {
    this.#deps.onChange?.(change);
  }

  #notFound(serverId: string): Error {
    const message = `There is no MCP server "${serverId}".${didYouMean(serverId, this.#places.keys())}`;
    return hubError("server_not_found", message, { details: { serverId } });
  }
}

function statusOf({ wanted, connection, registered, refusals }: Place): HubServerStatus {
  const { id, name, enabled } = wanted.config;
  const report = connection?.report();
  const state = report?.state ?? (enabled ? "down" : "disabled");
  const problems = wanted.problem === undefined ? [] : [wanted.problem];
  return {
    id,
    name,
    connected: state === "ready" || state === "degraded",
    toolCount: registered.size,
    lastPing: report?.lastPing ?? null,
    errors: [...problems, ...(report?.errors ?? []), ...refusals].slice(-MAX_STATUS_ERRORS),
    state,
    ...(report?.nextTryAt === undefined ? {} : { nextTryAt: report.nextTryAt }),
    ...(report?.protocol === undefined ? {} : { protocol: report.protocol }),
    ...(report?.version === undefined ? {} : { version: report.version }),
  };
}

function isSame(a: Tool, b: Tool): boolean {
  return a.hub?.fingerprint === b.hub?.fingerprint && a.effects === b.effects;
}

function wantedServer(server: MCPServerConfig | WantedServer): WantedServer {
  return "config" in server ? server : { config: server };
}
