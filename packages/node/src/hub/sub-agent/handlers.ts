/*
 * What each kind of request comes to, stage by stage. Between stages it can be cancelled or paused; what a stage did is undone
 * when a later one fails.
 */
import { type Json, toErgonError } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { hubError, type MCPServerConfig, type SubAgentRequest } from "@ergon/core/hub";
import { z } from "zod";
import { Addition, addServer, removeAll } from "./add-server.ts";
import {
  type Requester,
  type Outcome,
  type Prepared,
  type Stages,
  type SubAgentHost,
  whatStarts,
} from "./sub-agent-host.ts";
import { Found, Probed } from "./found.ts";

const Name = z.string().min(1).max(200);
const PARAMS = {
  add_server: Addition,
  remove_server: z.object({ serverId: Name }).strict(),
  test_server: z.object({ serverId: Name }).strict(),
  search_servers: z
    .object({ query: z.string().min(1).max(1_000), limit: z.int().positive().max(50).optional() })
    .strict(),
  modify_server: z
    .object({ serverId: Name, enabled: z.boolean().optional(), timeoutMs: z.int().positive().max(600_000).optional() })
    .strict(),
} as const;

/** Throws `input_invalid` when a request of this type cannot mean anything. */
export function checkParams({ type, params }: Pick<SubAgentRequest, "type" | "params">): void {
  const read = PARAMS[type].safeParse(params);
  if (read.success) return;
  const problems = read.error.issues.map(({ path, message }) => `${path.join(".") || "params"}: ${message}`).join("; ");
  throw usageError("input_invalid", `A request to ${type} cannot be taken: ${problems}`);
}

export function handle(
  kept: { readonly request: SubAgentRequest; readonly owner: string; readonly prepared?: Prepared | undefined },
  desk: SubAgentHost,
  stages: Stages,
): Promise<Outcome> {
  const { id: requestId, type, params } = kept.request;
  const asker: Requester = { requestId, owner: kept.owner, prepared: kept.prepared };
  switch (type) {
    case "add_server":
      return addServer(PARAMS.add_server.parse(params), asker, desk, stages);
    case "remove_server":
      return removeServer(PARAMS.remove_server.parse(params), desk, stages);
    case "test_server":
      return testServer(PARAMS.test_server.parse(params), desk, stages);
    case "search_servers":
      return searchServers(PARAMS.search_servers.parse(params), stages);
    case "modify_server":
      return modifyServer(PARAMS.modify_server.parse(params), asker, desk, stages);
  }
}

async function removeServer(
  { serverId }: z.infer<typeof PARAMS.remove_server>,
  desk: SubAgentHost,
  { stage, undo }: Stages,
): Promise<Outcome> {
  await stage(20, `Removing ${serverId}.`);
  await ownServer(serverId, desk);
  await removeAll(serverId, desk, undo);
  return { result: { serverId }, message: `${serverId} is removed, with everything that was installed for it.` };
}

async function testServer(
  { serverId }: z.infer<typeof PARAMS.test_server>,
  desk: SubAgentHost,
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
  { requestId, owner }: Requester,
  desk: SubAgentHost,
  { stage, keep }: Stages,
): Promise<Outcome> {
  await stage(20, `Changing ${serverId}.`);
  const config = await ownServer(serverId, desk);
  if (timeoutMs !== undefined) await desk.change(serverId, "timeoutMs", timeoutMs);
  if (enabled === false) await desk.change(serverId, "enabled", false);
  if (enabled !== true || config.enabled) return { result: { serverId }, message: `${serverId} is changed.` };
  const about = whatStarts(config);
  await keep({ serverId, about });
  const approvalId = await desk.askToEnable({ serverId, requestId, owner, about });
  const message = `${serverId} waits for a person's approval (${approvalId}).`;
  return { result: { serverId, about, approvalId }, message, awaits: true };
}

async function ownServer(serverId: string, desk: SubAgentHost): Promise<MCPServerConfig> {
  const config = (await desk.list()).find((server) => server.id === serverId);
  if (config === undefined)
    throw hubError("server_not_found", `The configuration has no server "${serverId}".`, { details: { serverId } });
  if (desk.isOwn(config)) return config;
  const message = `"${serverId}" was configured by a person; the sub-agent changes only what it installed. See ergon servers.`;
  throw hubError("install_refused", message, { details: { serverId } });
}

/** For a log or a status: what went wrong, in one line. */
export function inWords(thrown: unknown): string {
  return toErgonError(thrown, "install_failed").message;
}
