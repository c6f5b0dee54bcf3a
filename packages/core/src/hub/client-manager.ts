/*
 * Spec 5's MCPClientManager: which servers are wanted, and which of their tools are in the registry. How a server is
 * reached and kept alive is the connector's; whether a call may be made is the gate's.
 *
 * 1  Nothing waits for a slow server: servers start side by side, at most so many at once.
 * 2  The registry holds exactly the tools that wanted servers list; a tool that did not change is not touched.
 * 3  A server or a tool that cannot be taken in is told of in the server's status and disturbs no other.
 * 4  A server starts when it is first needed, or with all the others when that is asked for.
 */
import type { CostModel } from "../energy/cost-model.ts";
import { type ErgonError, toErgonError } from "../errors/ergon-error.ts";
import { hubError } from "../errors/hub.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { ConnectionReport, McpConnection, McpConnector } from "../ports/mcp-connector.ts";
import {
  type HubServerStatus,
  MCPServerConfig,
  type MCPTool,
  type ServerOffer,
  type ServerQuestion,
} from "../schema/hub.ts";
import type { Json } from "../schema/values/json.ts";
import { didYouMean } from "../schema/values/suggest.ts";
import type { ToolRegistry } from "../tools/registry.ts";
import { createToolBodies, type ToolBodies } from "../tools/tool-bodies.ts";
import type { HubInvocation } from "./hub-tool.ts";
import { refuseSharedPart, serverPart } from "./names.ts";
import {
  absenceOf,
  MAX_STATUS_ERRORS,
  type ServerSlot,
  runsAlike,
  statusOf,
  type WantedServer,
} from "./server-slot.ts";
import { registerTools } from "./register-tools.ts";
import { registerReads } from "./server-reads.ts";
import { createServerStarts, type ServerStarts } from "./server-starts.ts";
import { within } from "./within.ts";

export const MAX_SERVERS = 200;
/** How long a repeated call waits for a server that fell. */
const BACK_PATIENCE_MS = 15_000;

export type HubChange =
  | { readonly kind: "server"; readonly status: HubServerStatus }
  | {
      readonly kind: "tools";
      readonly serverId: string;
      readonly added: readonly string[];
      readonly removed: readonly string[];
    }
  /** What it lists there is another thing than before. */
  | { readonly kind: "offers"; readonly serverId: string; readonly offer: ServerOffer };

export type ClientManagerDeps = {
  readonly connector: McpConnector;
  readonly registry: Pick<ToolRegistry, "register" | "unregister" | "get" | "registerInternal" | "unregisterInternal">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly costs?: CostModel;
  readonly onChange?: (change: HubChange) => void;
  /** Told of each call once it is over. */
  readonly onInvoked?: (invocation: HubInvocation) => void;
};

export class MCPClientManager {
  readonly #deps: ClientManagerDeps;
  readonly #places = new Map<string, ServerSlot>();
  readonly #refused = new Map<string, HubServerStatus>();
  readonly #starts: ServerStarts;
  readonly #bodies: ToolBodies;
  #isEager = false;

  constructor(deps: ClientManagerDeps) {
    this.#deps = deps;
    this.#starts = createServerStarts(deps.clock);
    this.#bodies = createToolBodies(deps.clock);
  }

  /** Takes these servers in and begins to start them; resolves when each is ready or has failed once. */
  async initialize(servers: readonly (MCPServerConfig | WantedServer)[]): Promise<void> {
    await this.setServers(servers);
    await this.startAll();
  }

  /** From now on these are the servers, and no others. One that goes on as it was is not touched. */
  async setServers(servers: readonly (MCPServerConfig | WantedServer)[]): Promise<void> {
    const wanted = new Map(servers.map(wantedServer).map((server) => [server.config.id, server]));
    const gone = [...this.#places.values()].filter((place) => !this.#keep(place, wanted.get(place.wanted.config.id)));
    this.#refused.clear();
    await Promise.all(gone.map(({ wanted: { config } }) => this.removeServer(config.id)));
    for (const server of wanted.values()) {
      if (this.#places.has(server.config.id)) continue;
      try {
        this.#take(server);
      } catch (thrown) {
        // One that cannot be taken in is no reason to do without the others.
        this.#refuse(server, toErgonError(thrown, "server_config_invalid").message);
      }
    }
  }

  /** Resolves when each has been ready or has failed once. */
  async startAll(): Promise<void> {
    this.#isEager = true;
    await Promise.all([...this.#places.values()].map((place) => this.#start(place)));
  }

  /** Whether a tool that is not in the registry may turn up there once its server has been started. */
  mayHave(toolName: string): boolean {
    return this.#placeOf(toolName) !== undefined;
  }

  /** Starts the servers whose tools these are by their names, and waits until each is ready or has failed once. */
  async reach(toolNames: Iterable<string>): Promise<void> {
    const places = new Set([...toolNames].flatMap((name) => this.#placeOf(name) ?? []));
    await Promise.all([...places].map((place) => this.#start(place)));
  }

  /** Starts one, and waits until it is ready or has failed once; one that is not there has nothing to wait for. */
  async startServer(serverId: string): Promise<void> {
    const place = this.#places.get(serverId);
    if (place !== undefined) await this.#start(place);
  }

  /** Why a tool that a server would have is not there. */
  absence(toolName: string): ErgonError | undefined {
    const place = this.#placeOf(toolName);
    return place === undefined ? undefined : absenceOf(toolName, statusOf(place));
  }

  discoverTools(): Promise<MCPTool[]> {
    const tools: MCPTool[] = [];
    for (const { wanted, registered } of this.#places.values()) {
      for (const { tool } of registered.values()) {
        const { id, description, parameters } = tool;
        const serverId = wanted.config.id;
        const units = this.#deps.costs?.estimateTool(tool);
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
    const body = await this.#bodies.bodyOf(found.tool);
    const validated = body.validateArgs((params ?? {}) as Record<string, unknown>);
    if (!validated.ok) {
      const [first] = validated.issues;
      const message = `The arguments of "${toolName}" are not valid: ${first?.path ?? ""} ${first?.message ?? ""}`;
      throw hubError("server_refused", message, { details: { issues: validated.issues } });
    }
    const signal = options.signal ?? new AbortController().signal;
    return found.invoke(validated.value, { signal, progress: () => undefined });
  }

  /** Refuses with a typed error what cannot be taken in; else starts it, and waits for the first outcome. */
  async addServer(config: MCPServerConfig | WantedServer): Promise<void> {
    await this.#start(this.#take(wantedServer(config)));
  }

  async removeServer(serverId: string): Promise<void> {
    const place = this.#place(serverId);
    this.#places.delete(serverId);
    if (place.connection !== undefined) this.#starts.drop(place.connection);
    this.#register(place, []);
    await place.connection?.stop();
    const { nextTryAt: _never, ...status } = statusOf(place);
    this.#tell({ kind: "server", status: { ...status, state: "disabled", connected: false } });
  }

  /** By id; those that could not be taken in are among them. */
  getServerStatus(): HubServerStatus[] {
    const all = [...[...this.#places.values()].map(statusOf), ...this.#refused.values()];
    return all.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** What was asked for, as it was written. */
  serverConfig(serverId: string): MCPServerConfig | undefined {
    const wanted = this.#places.get(serverId)?.wanted;
    return wanted?.written ?? wanted?.config;
  }

  connection(serverId: string): McpConnection | undefined {
    return this.#place(serverId).connection;
  }

  /** For what a server has beside its tools; it is started for it when it has to be. */
  async ask(serverId: string, question: ServerQuestion, signal?: AbortSignal): Promise<Json> {
    const place = this.#place(serverId);
    await this.#start(place);
    if (place.connection !== undefined) return place.connection.ask(question, signal);
    const { state, errors } = statusOf(place);
    const message = `The server "${serverId}" is ${state}. ${errors.at(-1) ?? ""}`.trim();
    throw hubError("server_down", message, { details: { serverId, state } });
  }

  /** What a server printed last. */
  serverLog(serverId: string): readonly string[] {
    return this.#place(serverId).connection?.report().log ?? [];
  }

  wake(serverId: string): void {
    this.#place(serverId).connection?.wake();
  }

  async close(): Promise<void> {
    this.#starts.clear();
    const places = [...this.#places.values()];
    this.#places.clear();
    for (const place of places) this.#register(place, []);
    await Promise.all(places.flatMap(({ connection }) => (connection === undefined ? [] : [connection.stop()])));
  }

  /** False when it must end: it is no longer wanted, or not as it is. */
  #keep(place: ServerSlot, wanted: WantedServer | undefined): boolean {
    if (wanted === undefined || !runsAlike(place.wanted, wanted)) return false;
    place.wanted = wanted;
    const report = place.connection?.report();
    if (report !== undefined) this.#register(place, report.tools, report);
    return true;
  }

  #take(wanted: WantedServer): ServerSlot {
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
    const part = serverPart(name);
    const place: ServerSlot = { wanted, part, connection, firstTry: undefined, registered: new Map(), refusals: [] };
    this.#places.set(id, place);
    if (this.#isEager) void this.#start(place);
    return place;
  }

  #refuse({ config: { id, name } }: WantedServer, reason: string): void {
    this.#deps.logger.warn({ serverId: id, reason }, "a server was refused");
    const errors = [reason];
    this.#refused.set(id, { id, name, connected: false, toolCount: 0, lastPing: null, errors, state: "down" });
  }

  #open(serverId: string, { config, secrets = [], credentials = [] }: WantedServer): McpConnection {
    return this.#deps.connector.open({
      config,
      secrets,
      credentials,
      onChange: (report) => {
        const place = this.#places.get(serverId);
        if (place === undefined) return;
        this.#register(place, report.tools, report);
        this.#tell({ kind: "server", status: statusOf(place) });
      },
      onOffersChanged: (offer) => {
        if (this.#places.has(serverId)) this.#tell({ kind: "offers", serverId, offer });
      },
    });
  }

  #start(place: ServerSlot): Promise<void> {
    const { connection } = place;
    if (connection === undefined) return Promise.resolve();
    if (place.firstTry === undefined) {
      place.firstTry = connection.settled();
      this.#starts.add(connection);
    }
    return place.firstTry;
  }

  #register(place: ServerSlot, listed: ConnectionReport["tools"], report?: ConnectionReport): void {
    const { connection, wanted } = place;
    const { onInvoked, costs, clock } = this.#deps;
    const source =
      connection === undefined
        ? undefined
        : {
            config: wanted.config,
            written: wanted.written ?? wanted.config,
            call: connection.call,
            ask: connection.ask,
            back: () => this.#back(connection),
            clock,
            costs,
            onInvoked,
            version: report?.version,
          };
    const { added, removed } = registerTools(this.#deps.registry, place, { listed, source });
    registerReads(this.#deps.registry, place.part, { offers: report?.offers ?? [], source });
    if (added.length + removed.length > 0) this.#tell({ kind: "tools", serverId: wanted.config.id, added, removed });
  }

  async #back(connection: McpConnection): Promise<boolean> {
    connection.wake();
    await within(this.#deps.clock, BACK_PATIENCE_MS, connection.settled());
    return ["ready", "degraded"].includes(connection.report().state);
  }

  #tell(change: HubChange): void {
    this.#deps.onChange?.(change);
  }

  /** A tool's name begins with its server's part, which has no `_`. */
  #placeOf(toolName: string): ServerSlot | undefined {
    const [part] = toolName.split("_", 1);
    if (part === toolName) return undefined;
    return [...this.#places.values()].find((place) => place.part === part);
  }

  #place(serverId: string): ServerSlot {
    const place = this.#places.get(serverId);
    if (place !== undefined) return place;
    const message = `There is no MCP server "${serverId}".${didYouMean(serverId, this.#places.keys())}`;
    throw hubError("server_not_found", message, { details: { serverId } });
  }
}

function wantedServer(server: MCPServerConfig | WantedServer): WantedServer {
  return "config" in server ? server : { config: server };
}
