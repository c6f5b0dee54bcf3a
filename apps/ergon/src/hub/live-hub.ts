import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type ChatModel, type Clock, type Logger, type ToolRegistry, toErgonError } from "@ergon/core";
import { MCPClientManager } from "@ergon/core/spec";
import type { ApprovalRule, NewEvent } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import { type AllowList, allowsForGood, type CostModel, type Disallow } from "@ergon/core/engine";
import type { LoginStore, MCPServerConfig, WantedServer } from "@ergon/core/hub";
import {
  allowedServersPath,
  createMcpConnector,
  hideInValue,
  openAllowedServers,
  openInvocationLog,
  openKnownEras,
  openServersFile,
  ownPaths,
  readServers,
  serverHomes,
  stateFolder,
  type ServerAdmin,
  type ServersFile,
  type StorePlace,
  withAllowed,
  withoutAllowed,
} from "@ergon/node";
import type { Asking } from "../services/approval-rules.ts";
import { quieter } from "../services/quieter.ts";
import { createServerAdmin } from "./server-admin.ts";
import { hubEvents } from "./hub-events.ts";
import { wantedServer } from "./wanted-server.ts";

/** How long somebody who asks for all tools waits for servers that have just begun to start. */
const FIRST_PATIENCE_MS = 10_000;

export type LiveHubParts = {
  readonly config: {
    readonly path: string;
    /** A person named the file; else it was found by the working directory. */
    readonly isNamed: boolean;
  };
  readonly dataFolder: string;
  /** Where calls of servers' tools are written down. */
  readonly place: StorePlace;
  /** The process goes on until it is stopped. One that ends with its command tells whoever typed it how servers are. */
  readonly stays: boolean;
  /** Whether what is learned is kept when the process ends. */
  readonly isKept: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly registry: ToolRegistry;
  readonly costs: CostModel;
  /** Lent to servers that are trusted. */
  readonly model?: ChatModel;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tell: (events: readonly NewEvent[]) => void;
  /** Where logins at servers are kept; asked once there is a server to speak of. */
  readonly logins: () => LoginStore;
  /** Told where to ask what calls usually cost. */
  readonly onLearned: (usualUnits: (toolId: string) => number | undefined) => void;
  /** Told what the configuration says of asking people. */
  readonly asking: Pick<Asking, "follow">;
};

const NO_RULES: readonly ApprovalRule[] = [];

type Configured = Pick<ServersFile, "servers" | "settings">;

export type LiveHub = {
  readonly manager: MCPClientManager;
  readonly desk: ServerAdmin;
  /** What the configuration says beside its servers. */
  readonly settings: () => ServersFile["settings"];
  /** Writes into the configuration what a person allowed for good. */
  readonly allow: AllowList;
  /** Takes it out again. */
  readonly disallow: Disallow;
  readonly allToolsReady: () => Promise<void>;
  readonly start: () => void;
  readonly close: () => Promise<void>;
};

export async function openLiveHub(parts: LiveHubParts): Promise<LiveHub> {
  const { config, clock, logger, registry, costs, environment } = parts;
  const state = stateFolder(environment);
  const file = openServersFile(config.path, { isFound: !config.isNamed, stateFolder: state });
  const allowed = openAllowedServers(allowedServersPath(environment));
  const hidden = new Map<string, <T>(value: T) => T>();
  const log = openInvocationLog({
    ...parts.place,
    clock,
    logger,
    hide: (serverId, value) => hidden.get(serverId)?.(value) ?? value,
  });
  parts.onLearned(log.usualUnits);
  const told = parts.stays ? logger : quieter(logger);
  const lent = parts.model === undefined ? {} : { model: parts.model };
  const own = ownPaths({ data: parts.dataFolder, mcpConfig: config.path }, environment);
  // A fenced server that may write around the state folder must not be the one to make it.
  await mkdir(state, { recursive: true, mode: 0o700 }).catch((thrown: unknown) => {
    logger.debug({ error: toErgonError(thrown, "internal").toJSON() }, "The user's state folder cannot be made.");
  });
  const connector = createMcpConnector({
    logger: told,
    fence: { own, homes: serverHomes(environment) },
    logins: parts.logins(),
    ...(parts.isKept ? { eras: openKnownEras(join(parts.dataFolder, "eras.json")) } : {}),
    ...lent,
  });
  const onChange = hubEvents(parts);
  const onInvoked = log.add;
  const manager = new MCPClientManager({ connector, registry, clock, logger: told, costs, onChange, onInvoked });
  let problems: ServersFile["problems"] = [];
  /** What counts of the file; absent until it was first read. */
  let configured: Configured | undefined;
  let applying: Promise<void> = Promise.resolve();
  let patience: Promise<void> | undefined;
  let stopWatching: (() => void) | undefined;

  parts.asking.follow({
    server: (serverId) => configured?.servers.find(({ id }) => id === serverId),
    rules: () => configured?.settings.approvalRules ?? NO_RULES,
    approvalRequired: () => configured?.settings.toolApprovalRequired,
  });
  await apply(await file.read());

  return {
    manager,
    settings: () => configured?.settings ?? {},
    desk: createServerAdmin({
      manager,
      connector,
      file,
      log,
      clock,
      own,
      problems: () => problems,
      reload: async () => apply(await file.read()),
      wanted,
      approve: (server) => allowed.allow(file.path, server, isoTime(clock)),
      edit,
      allToolsReady,
    }),
    allow: async ({ serverId, tools }) => {
      if (!tools.every((name) => isPlainName(name))) return false;
      const known = (await file.read()).servers.some(({ id }) => id === serverId);
      if (!known) return false;
      await edit(serverId, (text) => withAllowed(text, serverId, tools));
      await apply(await file.read());
      return true;
    },
    disallow: async ({ serverId, identity }) => {
      const tool = { identity };
      const { name } = identity;
      const allows = ({ servers, settings }: ServersFile): boolean => {
        const rules = settings.approvalRules ?? NO_RULES;
        const server = servers.find(({ id }) => id === serverId);
        const facts = serverId === undefined ? tool : { ...tool, serverId };
        return allowsForGood({ tool: facts, rules, ...(server === undefined ? {} : { server }) });
      };
      const read = await file.read();
      if (!allows(read)) return true;
      const without = (text: string): string => (serverId === undefined ? text : withoutAllowed(text, serverId, name));
      if (serverId === undefined || allows(await file.tried(without))) return false;
      await edit(serverId, without);
      await apply(await file.read());
      return true;
    },
    allToolsReady,
    start: () => {
      patience ??= clock.sleep(FIRST_PATIENCE_MS);
      stopWatching ??= file.onChange((read) => void apply(read));
      void manager.startAll();
    },
    close: async () => {
      stopWatching?.();
      await applying;
      await manager.close();
      await log.close();
    },
  };

  /** One after the other: two edits in a row end as the second says. */
  function apply(read: ServersFile): Promise<void> {
    const applied = applying.then(async () => {
      ({ problems } = read);
      for (const { place, message } of problems) logger.warn({ file: file.path, place }, message);
      if (read.isUnreadable === true && configured !== undefined)
        return logger.warn({ file: file.path }, "The file cannot be read: everything goes on as it said before.");
      const servers = await Promise.all(read.servers.map(wanted));
      for (const {
        config: { id },
        secrets = [],
      } of servers)
        hidden.set(
          id,
          hideInValue(() => secrets),
        );
      // What an entry that nobody approved says in its own favour counts at no moment.
      const approved = new Set(servers.flatMap(({ config: { id }, needsApproval }) => (needsApproval ? [] : [id])));
      configured = { servers: read.servers.filter(({ id }) => approved.has(id)), settings: read.settings };
      await manager.setServers(servers);
      await log.noteServers(servers.map((server) => server.written ?? server.config));
    });
    applying = applied.catch((thrown: unknown) => {
      logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The servers could not be changed.");
    });
    return applied;
  }

  /** Changes one server's entry in the file. One that was approved is approved as it is then: a person asked for it. */
  async function edit(serverId: string, change: (text: string) => string): Promise<void> {
    const entryIn = (text: string) => readServers(text).servers.find(({ id }) => id === serverId);
    const entry: { before?: MCPServerConfig | undefined; after?: MCPServerConfig | undefined } = {};
    await file.change((text) => {
      const changed = change(text);
      entry.before = entryIn(text);
      entry.after = entryIn(changed);
      return changed;
    });
    const { before, after } = entry;
    if (before === undefined || after === undefined || !(await allowed.has(file.path, before))) return;
    await allowed.allow(file.path, after, isoTime(clock));
  }

  function wanted(server: MCPServerConfig): Promise<WantedServer> {
    return wantedServer(server, { path: file.path, isNamed: config.isNamed, allowed, environment });
  }

  function allToolsReady(): Promise<void> {
    patience ??= clock.sleep(FIRST_PATIENCE_MS);
    return Promise.race([manager.startAll(), patience]);
  }
}

/** A name that could be read as a pattern would allow more than the person said. */
function isPlainName(name: string): boolean {
  return !/[*?]/.test(name);
}
