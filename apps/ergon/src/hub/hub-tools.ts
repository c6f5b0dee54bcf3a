import type { ToolRegistry } from "@ergon/core";
import type { ToolSummary } from "@ergon/core/schema";
import { adaptMcpTool } from "@ergon/core/engine";
import { absenceOf, hubError, type HubServerStatus, serverPart } from "@ergon/core/hub";
import type { App } from "../workspace/app.ts";
import { throughOwner } from "../workspace/through-owner.ts";
import { toolsIn } from "./hub-engine.ts";

export type HubTools = {
  readonly tools: readonly ToolSummary[];
  /** Servers whose tools are not among them. */
  readonly missing: readonly HubServerStatus[];
};

/** The tools of MCP servers, as whoever owns the data folder has them; nobody is asked where there can be none. */
export async function hubTools(app: App): Promise<HubTools> {
  const mayBe = app.hasServers() || (await app.inspectData()).state === "owned";
  if (!mayBe) return { tools: [], missing: [] };
  try {
    const work = { recover: false, repeatable: true };
    return await throughOwner(app, work, async ({ allToolsReady, servers, tools }) => {
      await allToolsReady();
      // Where there is no configuration, looking would make the hub come up for nothing.
      const items = app.hasServers() ? (await servers.list()).items : [];
      const missing = items.filter(({ connected, state }) => !connected && state !== "disabled");
      return { tools: (await tools()).filter(({ origin }) => origin === "hub"), missing };
    });
  } finally {
    await app.leave();
  }
}

/**
 * Puts those of them into the registry that a plan names, to be looked at; their servers are not asked from here. Says of
 * the others why they are not there, where a server would have them.
 */
export async function knowTools(app: App, registry: ToolRegistry, plan: unknown): Promise<ReadonlyMap<string, string>> {
  const unknown = toolsIn(plan).filter((toolId) => !registry.has(toolId));
  const absences = new Map<string, string>();
  if (unknown.length === 0) return absences;
  const { tools, missing } = await hubTools(app);
  for (const tool of tools) if (unknown.includes(tool.id)) registry.register(shownTool(tool));
  for (const toolId of unknown) {
    const server = missing.find(({ name }) => toolId.startsWith(`${serverPart(name)}_`));
    const absence = registry.has(toolId) || server === undefined ? undefined : absenceOf(toolId, server);
    if (absence !== undefined) absences.set(toolId, absence.message);
  }
  return absences;
}

function shownTool({ id: name, tags: [serverName = ""], ...tool }: ToolSummary): ReturnType<typeof adaptMcpTool> {
  const { description, parameters, effects, title, outputSchema, estimatedEnergyUnits } = tool;
  const cost = { estimatedEnergyCost: estimatedEnergyUnits };
  const listed = { name, description, serverId: serverName, serverName, parameters, ...cost };
  const call = (): never => {
    throw hubError("server_down", `"${name}" is called by the process that owns the data folder.`);
  };
  return adaptMcpTool(listed, { call, effects, title, ...(outputSchema === undefined ? {} : { outputSchema }) });
}
