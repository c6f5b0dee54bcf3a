import { hubError, type Json, MCPServerConfig, PackageFacts, RegistryEntry, shortServerId } from "@ergon/core";
import { z } from "zod";
import type { Asker, Outcome, Prepared, Stages, SubAgentDesk } from "./desk.ts";
import { Found, Probed } from "./found.ts";

export const Addition = z
  .object({
    serverName: z.string().min(1).max(200),
    version: z.string().max(255).optional(),
    id: z.string().max(24).optional(),
    purpose: z.string().max(1_000).optional(),
  })
  .strict();
type Addition = z.infer<typeof Addition>;

/** Checks, installs and tries a server, writes it down switched off, and asks a person to let it start. */
export async function addServer(
  params: Addition,
  { requestId, owner, prepared }: Asker,
  desk: SubAgentDesk,
  stages: Stages,
): Promise<Outcome> {
  const { serverId, about, added } = prepared ?? (await prepareServer(params, desk, stages));
  return orUndo(serverId, desk, stages, async () => {
    await stages.stage(85, `Writing ${serverId} into the configuration, switched off.`);
    const there = (await desk.list()).find(({ id }) => id === serverId);
    if (there !== undefined && !desk.isOwn(there)) throw duplicate(serverId);
    if (added !== undefined) await desk.add(added.config);
    const approvalId = await desk.askToEnable({ serverId, requestId, owner, about });
    const message = `${serverId} is installed and waits for a person's approval (${approvalId}).`;
    return { result: { serverId, about, approvalId, probe: added?.probe ?? null }, message, awaits: true };
  });
}

/** Everything up to the point where others see something of it. */
async function prepareServer(
  { serverName, version, id: wantedId, purpose = "" }: Addition,
  desk: SubAgentDesk,
  stages: Stages,
): Promise<Prepared> {
  const { stage, work, keep } = stages;
  await stage(5, `Looking ${serverName} up.`);
  const name = serverName.includes("/") ? serverName : await nameFor(serverName, purpose, work);
  const id = wantedId ?? shortServerId(name);
  if ((await desk.list()).some((server) => server.id === id)) throw duplicate(id);
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
  return orUndo(id, desk, stages, async () => {
    await stage(60, `Trying ${id} without network.`);
    const probe = Probed.parse(
      await work("probe", { config: withPlaceholders(config), secrets: [], fenced: true } as Json),
    );
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
    const prepared = { serverId: id, about, added: { config, probe: probe as Json } };
    await keep(prepared);
    return prepared;
  });
}

/**
 * When it fails, nothing is left. The configuration first: a process that dies in between finds either all that it needs
 * to go on, or nothing that another would see.
 */
async function orUndo<T>(id: string, desk: SubAgentDesk, stages: Stages, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    await unwrite(id, desk);
    await stages.keep(undefined);
    await stages.undo("uninstall", { id });
    throw thrown;
  }
}

function duplicate(serverId: string): Error {
  return hubError("server_duplicate", `There is a server "${serverId}" already.`, { details: { serverId } });
}

/** Takes a server away wholly: its configuration and its folder. */
export async function removeAll(id: string, desk: SubAgentDesk, undo: Stages["undo"]): Promise<void> {
  await unwrite(id, desk);
  await undo("uninstall", { id });
}

/** A person may have given the name to another server meanwhile. */
async function unwrite(id: string, desk: SubAgentDesk): Promise<void> {
  if ((await desk.list()).some((server) => server.id === id && desk.isOwn(server))) await desk.remove(id);
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

const Judged = z.object({ entry: RegistryEntry, facts: PackageFacts });
