import type { Json, JsonObject } from "@ergon/core";
import { hubError, MCPServerConfig, PackageFacts, RegistryEntry, shortServerId } from "@ergon/core/hub";
import { z } from "zod";
import { type Requester, type Outcome, type Stages, type SubAgentHost, whatStarts } from "./sub-agent-host.ts";
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

/**
 * Checks, installs and tries a server, writes it down switched off, and asks a person to let it start. A request that an
 * earlier process had prepared is prepared anew, after what that process left is taken away.
 */
export async function addServer(
  params: Addition,
  { requestId, owner, prepared }: Requester,
  desk: SubAgentHost,
  stages: Stages,
): Promise<Outcome> {
  if (prepared !== undefined) {
    await removeAll(prepared.serverId, desk, stages.undo);
    await stages.keep(undefined);
  }
  const { id, judged, config, dependencies } = await installServer(params, desk, stages);
  try {
    await stages.stage(60, `Trying ${id} without network.`);
    const probe = Probed.parse(
      await stages.work("probe", { config: withPlaceholders(config), secrets: [], fenced: true } as Json),
    );
    const about = aboutServer(judged, { config, dependencies, probe, purpose: params.purpose });
    await stages.keep({ serverId: id, about });
    await stages.stage(85, `Writing ${id} into the configuration, switched off.`);
    await desk.add(config);
    const approvalId = await desk.askToEnable({ serverId: id, requestId, owner, about });
    const message = `${id} is installed and waits for a person's approval (${approvalId}).`;
    return { result: { serverId: id, about, approvalId, probe: probe as Json }, message, awaits: true };
  } catch (thrown) {
    // The configuration first: a process that dies in between leaves nothing that another would see.
    await removeAll(id, desk, stages.undo);
    await stages.keep(undefined);
    throw thrown;
  }
}

/** Everything up to the point where the server is on the disk, and nowhere else. */
async function installServer(
  { serverName, version, id: wantedId, purpose = "" }: Addition,
  desk: SubAgentHost,
  { stage, work }: Stages,
): Promise<Installed & { readonly id: string; readonly judged: Judged }> {
  await stage(5, `Looking ${serverName} up.`);
  const name = serverName.includes("/") ? serverName : await nameFor(serverName, purpose, work);
  const id = wantedId ?? shortServerId(name);
  if ((await desk.list()).some((server) => server.id === id))
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
  await stage(30, `Installing ${judged.facts.name}@${judged.facts.version}, with its scripts off.`);
  return { id, judged, ...Installed.parse(await work("install", { ...judged, id } as Json)) };
}

function aboutServer(
  { entry, facts }: Judged,
  found: Installed & { readonly probe: Probed; readonly purpose: string | undefined },
): JsonObject {
  const { config, dependencies, probe, purpose = "" } = found;
  return {
    server: entry.name,
    package: `${facts.name}@${facts.version}`,
    integrity: facts.integrity ?? "",
    dependencies,
    ...whatStarts(config),
    tools: probe.tools.map((tool) => tool.name),
    ...(probe.untried === undefined ? {} : { untried: probe.untried }),
    ...(purpose === "" ? {} : { purpose }),
    ...(facts.installScripts.length === 0 ? {} : { scriptsNotRun: facts.installScripts }),
  };
}

/** Takes a server away wholly: its configuration and its folder. */
export async function removeAll(id: string, desk: SubAgentHost, undo: Stages["undo"]): Promise<void> {
  await unwrite(id, desk);
  await undo("uninstall", { id });
}

/** A person may have given the name to another server meanwhile. */
async function unwrite(id: string, desk: SubAgentHost): Promise<void> {
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
type Judged = z.infer<typeof Judged>;
const Installed = z.object({ config: MCPServerConfig, dependencies: z.int() });
type Installed = z.infer<typeof Installed>;
