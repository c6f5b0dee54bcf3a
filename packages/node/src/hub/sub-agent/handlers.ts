/*
 * What each kind of request comes to, stage by stage. Between stages it can be cancelled or paused; what a stage did is undone
 * when a later one fails.
 */
import {
  hubError,
  type Json,
  MCPServerConfig,
  PackageFacts,
  RegistryEntry,
  shortServerId,
  type SubAgentRequest,
  toErgonError,
  usageError,
} from "@ergon/core";
import { z } from "zod";
import type { WorkKind } from "./work.ts";

const Name = z.string().min(1).max(200);
const PARAMS = {
  add_server: z
    .object({
      serverName: Name,
      version: z.string().max(255).optional(),
      id: z.string().max(24).optional(),
      purpose: z.string().max(1_000).optional(),
    })
    .strict(),
  remove_server: z.object({ serverId: Name }).strict(),
  test_server: z.object({ serverId: Name }).strict(),
  search_servers: z
    .object({ query: z.string().min(1).max(1_000), limit: z.int().positive().max(50).optional() })
    .strict(),
  modify_server: z
    .object({ serverId: Name, enabled: z.boolean().optional(), timeoutMs: z.int().positive().max(600_000).optional() })
    .strict(),
} as const;

/** What the sub-agent may touch besides its own folder: the configuration, and a person's attention. */
export type SubAgentDesk = {
  readonly list: () => Promise<readonly MCPServerConfig[]>;
  /** The server with its references resolved. */
  readonly resolve: (
    serverId: string,
  ) => Promise<{ readonly config: MCPServerConfig; readonly secrets: readonly string[] }>;
  readonly add: (config: MCPServerConfig) => Promise<void>;
  readonly remove: (serverId: string) => Promise<void>;
  readonly change: (serverId: string, field: "enabled" | "timeoutMs", value: Json) => Promise<void>;
  /** Asks a person to let a server start; asked again for the same request, it answers with the same approval. */
  readonly askToEnable: (asked: EnableQuestion) => Promise<string>;
  /** What the person answered to the question of this request; waits for it. */
  readonly answerTo: (asked: Pick<EnableQuestion, "requestId" | "owner">, signal: AbortSignal) => Promise<EnableAnswer>;
  /** Takes a question back that nobody needs to answer any more. */
  readonly withdraw: (asked: Pick<EnableQuestion, "requestId" | "owner">) => Promise<void>;
  /** Names of variables that servers may refer to. */
  readonly environment: () => readonly string[];
  /** Whether the sub-agent installed it. */
  readonly isOwn: (config: MCPServerConfig) => boolean;
};

export type EnableQuestion = {
  readonly serverId: string;
  readonly requestId: string;
  readonly owner: string;
  readonly about: Json;
};

export type EnableAnswer = { readonly approved: boolean; readonly feedback?: string };

export type Stages = {
  /** Says how far it is; waits while paused, throws when cancelled. */
  readonly stage: (progress: number, message: string) => Promise<void>;
  readonly work: (kind: WorkKind, params: Json) => Promise<Json>;
  /** The same, whether cancelled or not. */
  readonly undo: (kind: WorkKind, params: Json) => Promise<void>;
};

export type Outcome = {
  readonly result: Json;
  readonly message: string;
  readonly awaits?: { readonly approvalId: string; readonly serverId: string };
};

/** Throws `input_invalid` when a request of this type cannot mean anything. */
export function checkParams({ type, params }: Pick<SubAgentRequest, "type" | "params">): void {
  const read = PARAMS[type].safeParse(params);
  if (read.success) return;
  const problems = read.error.issues.map(({ path, message }) => `${path.join(".") || "params"}: ${message}`).join("; ");
  throw usageError("input_invalid", `A request to ${type} cannot be taken: ${problems}`);
}

export function handle(
  kept: { readonly request: SubAgentRequest; readonly owner: string },
  desk: SubAgentDesk,
  stages: Stages,
): Promise<Outcome> {
  const { type, params } = kept.request;
  switch (type) {
    case "add_server":
      return addServer(
        PARAMS.add_server.parse(params),
        { requestId: kept.request.id, owner: kept.owner },
        desk,
        stages,
      );
    case "remove_server":
      return removeServer(PARAMS.remove_server.parse(params), desk, stages);
    case "test_server":
      return testServer(PARAMS.test_server.parse(params), desk, stages);
    case "search_servers":
      return searchServers(PARAMS.search_servers.parse(params), stages);
    case "modify_server":
      return modifyServer(
        PARAMS.modify_server.parse(params),
        { requestId: kept.request.id, owner: kept.owner },
        desk,
        stages,
      );
  }
}

async function addServer(
  { serverName, version, id: wantedId, purpose = "" }: z.infer<typeof PARAMS.add_server>,
  asker: { readonly requestId: string; readonly owner: string },
  desk: SubAgentDesk,
  { stage, work, undo }: Stages,
): Promise<Outcome> {
  await stage(5, `Looking ${serverName} up.`);
  const name = serverName.includes("/") ? serverName : await nameFor(serverName, purpose, work);
  const id = wantedId ?? shortServerId(name);
  const configured = await desk.list();
  if (configured.some((server) => server.id === id))
    throw hubError("server_duplicate", `There is a server "${id}" already.`, { details: { serverId: id } });
  await stage(15, `Checking ${name}.`);
  const judged = Judged.parse(
    await work("judge", {
      name,
      ...(version === undefined ? {} : { version }),
      environment: [...desk.environment()],
      servers: [],
    }),
  );
  const { name: packageName, version: packageVersion, integrity = "", installScripts } = judged.facts;
  await stage(30, `Installing ${packageName}@${packageVersion}, with its scripts off.`);
  const config = MCPServerConfig.parse(await work("install", { ...judged, id } as Json));
  try {
    await stage(60, `Trying ${id} without network.`);
    const probe = Probed.parse(
      await work("probe", { config: withPlaceholders(config), secrets: [], fenced: true } as Json),
    );
    await stage(85, `Writing ${id} into the configuration, switched off.`);
    await desk.add(config);
    const about = {
      server: name,
      package: `${packageName}@${packageVersion}`,
      integrity,
      command: [config.command ?? "", ...(config.args ?? [])],
      environment: Object.keys(config.env ?? {}),
      network: config.access?.network !== false,
      tools: probe.tools.map((tool) => tool.name),
      ...(probe.untried === undefined ? {} : { untried: probe.untried }),
      ...(purpose === "" ? {} : { purpose }),
      ...(installScripts.length === 0 ? {} : { scriptsNotRun: installScripts }),
    };
    const approvalId = await desk.askToEnable({ serverId: id, ...asker, about });
    const message = `${id} is installed and waits for a person's approval (${approvalId}).`;
    return {
      result: { serverId: id, about, approvalId, probe } as Json,
      message,
      awaits: { approvalId, serverId: id },
    };
  } catch (thrown) {
    await removeAll(id, desk, undo);
    throw thrown;
  }
}

/** Takes a server away wholly: its configuration and its folder. */
export async function removeAll(id: string, desk: SubAgentDesk, undo: Stages["undo"]): Promise<void> {
  // A person may have given the name to another server meanwhile.
  if ((await desk.list()).some((server) => server.id === id && desk.isOwn(server))) await desk.remove(id);
  await undo("uninstall", { id });
}

async function removeServer(
  { serverId }: z.infer<typeof PARAMS.remove_server>,
  desk: SubAgentDesk,
  { stage, undo }: Stages,
): Promise<Outcome> {
  await stage(20, `Removing ${serverId}.`);
  await ownServer(serverId, desk);
  await removeAll(serverId, desk, undo);
  return { result: { serverId }, message: `${serverId} is removed, with everything that was installed for it.` };
}

async function testServer(
  { serverId }: z.infer<typeof PARAMS.test_server>,
  desk: SubAgentDesk,
  { stage, work }: Stages,
): Promise<Outcome> {
  await stage(10, `Starting ${serverId}.`);
  const { config, secrets } = await desk.resolve(serverId);
  if (!config.enabled)
    throw hubError("server_down", `"${serverId}" is switched off; a person must let it start first.`, {
      details: { serverId },
    });
  const probe = Probed.parse(await work("probe", { config, secrets, fenced: false } as Json));
  const sample =
    probe.sample === undefined
      ? ""
      : ` A sample call of ${probe.sample.tool} ${probe.sample.ok ? "succeeded" : "failed"}.`;
  return {
    result: { serverId, ...probe } as Json,
    message: `${serverId} works: ${String(probe.tools.length)} tools.${sample}`,
  };
}

async function searchServers(
  { query, limit = 10 }: z.infer<typeof PARAMS.search_servers>,
  { stage, work }: Stages,
): Promise<Outcome> {
  await stage(10, `Searching the registry for "${query}".`);
  const found = Found.parse(await work("search", { words: query, limit }));
  return { result: found as Json, message: `${String(found.servers.length)} servers found.` };
}

async function modifyServer(
  { serverId, enabled, timeoutMs }: z.infer<typeof PARAMS.modify_server>,
  asker: { readonly requestId: string; readonly owner: string },
  desk: SubAgentDesk,
  { stage }: Stages,
): Promise<Outcome> {
  await stage(20, `Changing ${serverId}.`);
  const config = await ownServer(serverId, desk);
  if (timeoutMs !== undefined) await desk.change(serverId, "timeoutMs", timeoutMs);
  if (enabled === false) await desk.change(serverId, "enabled", false);
  if (enabled !== true || config.enabled) return { result: { serverId }, message: `${serverId} is changed.` };
  const about = { command: [config.command ?? "", ...(config.args ?? [])], environment: Object.keys(config.env ?? {}) };
  const approvalId = await desk.askToEnable({ serverId, ...asker, about });
  const message = `${serverId} waits for a person's approval (${approvalId}).`;
  return { result: { serverId, about, approvalId }, message, awaits: { approvalId, serverId } };
}

async function ownServer(serverId: string, desk: SubAgentDesk): Promise<MCPServerConfig> {
  const config = (await desk.list()).find((server) => server.id === serverId);
  if (config === undefined)
    throw hubError("server_not_found", `The configuration has no server "${serverId}".`, { details: { serverId } });
  if (desk.isOwn(config)) return config;
  const message = `"${serverId}" was configured by a person; the sub-agent changes only what it installed. See ergon servers.`;
  throw hubError("install_refused", message, { details: { serverId } });
}

/** The one server of the registry that a short name can mean. */
async function nameFor(serverName: string, purpose: string, work: Stages["work"]): Promise<string> {
  const { servers } = Found.parse(await work("search", { words: `${serverName} ${purpose}`, limit: 20 }));
  const wanted = shortServerId(serverName);
  const matches = servers.filter(
    ({ name, package: id = "" }) => shortServerId(name) === wanted || id.startsWith(`${serverName}@`),
  );
  const [only] = matches;
  if (only !== undefined && matches.length === 1) return only.name;
  const candidates = (matches.length > 0 ? matches : servers).slice(0, 5).map(({ name }) => name);
  const named = candidates.length === 0 ? "" : ` Name one exactly: ${candidates.join(", ")}.`;
  const message = `"${serverName}" is ${matches.length > 1 ? "the name of several servers" : "not a server of the registry"}.${named}`;
  throw hubError("install_refused", message, { details: { candidates } });
}

/** The first try gets no secret: a key that is not given away needs no network to be kept from. */
function withPlaceholders(config: MCPServerConfig): MCPServerConfig {
  const env = Object.entries(config.env ?? {}).map(([name, value]) => [
    name,
    value.includes("${") ? "not-given" : value,
  ]);
  return { ...config, env: Object.fromEntries(env) as Record<string, string> };
}

/** For a log or a status: what went wrong, in one line. */
export function inWords(thrown: unknown): string {
  return toErgonError(thrown, "install_failed").message;
}

const Judged = z.object({ entry: RegistryEntry, facts: PackageFacts });
const Probed = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string(), fingerprint: z.string() })).default([]),
  /** Why it was not started. */
  untried: z.string().optional(),
  version: z.string().optional(),
  sample: z.object({ tool: z.string(), ok: z.boolean() }).optional(),
});
const Found = z.object({
  servers: z.array(z.looseObject({ name: z.string(), package: z.string().optional() })),
  asOf: z.string().nullable(),
  stale: z.string().optional(),
});
