/*
 * The hub of a folder that we own. What is heavy is loaded when there is a server to speak of: a folder without servers
 * pays nothing for them.
 *
 * B1  A server starts when a call, a plan or a person first needs it; where Ergon stays, all start at once, off the way
 *     of everything else.
 * B2  A server of a configuration that was found, not named, starts only after a person has approved it.
 * B3  When the hub is closed, no process of a server is left.
 */
import { existsSync } from "node:fs";
import type { ToolRegistry } from "@ergon/core";
import type { AllowList, Disallow, Engine, ToolGate } from "@ergon/core/engine";
import type { HubStats } from "@ergon/core/hub";
import type { ServerAdmin } from "@ergon/node";
import { closeIfOpened, lazy, whenUsed } from "../services/lazy.ts";
import { hubEngine } from "./hub-engine.ts";
import { hubGate } from "./hub-gate.ts";
import type { LiveHub, LiveHubParts } from "./live-hub.ts";

export type Hub = {
  /** Waits for the server of a tool that is not there yet. */
  readonly gate: (gate: ToolGate) => ToolGate;
  /** Waits for the servers of the tools that a plan names. */
  readonly engine: <E extends Engine>(engine: E, plan: (planId: string) => unknown) => E;
  /** For whoever chooses among all tools: waits a little for servers that are starting. */
  readonly allToolsReady: () => Promise<void>;
  readonly desk: ServerAdmin;
  /** What the configuration says beside its servers. */
  readonly settings: LiveHub["settings"];
  /** A tool that is not there yet may be one of a server that was not needed before. */
  readonly mayHave: (toolId: string) => boolean;
  readonly reach: (toolIds: readonly string[]) => Promise<void>;
  /** Writes into the configuration what a person allowed for good; false where that cannot be. */
  readonly allow: AllowList;
  /** Takes it out again; false where the configuration goes on allowing it. */
  readonly disallow: Disallow;
  /** What was learned from calls; undefined where there is no hub. */
  readonly stats: () => Promise<HubStats | undefined>;
  /** Starts all servers and watches the configuration, behind everything else. */
  readonly start: () => void;
  readonly close: () => Promise<void>;
};

export type HubParts = LiveHubParts & { readonly registry: ToolRegistry };

export async function openHub(parts: HubParts): Promise<Hub> {
  const { registry, config, logger } = parts;
  let live: LiveHub | undefined;
  let isClosed = false;
  const open = lazy(async () => {
    const { openLiveHub } = await import("./live-hub.ts");
    const opened = await openLiveHub(parts);
    if (isClosed) await opened.close();
    live = opened;
    return opened;
  });
  if (existsSync(config.path)) await open();
  const late = {
    mayHave: (toolId: string) => !registry.has(toolId) && live?.manager.mayHave(toolId) === true,
    reach: async (toolIds: Iterable<string>) => live?.manager.reach(toolIds),
    absence: (toolId: string) => live?.manager.absence(toolId),
  };

  return {
    gate: (gate) => hubGate(gate, late),
    engine: (engine, plan) => hubEngine(engine, { ...late, plan, allToolsReady }),
    allToolsReady,
    desk: whenUsed(async () => (await open()).desk),
    settings: () => live?.settings() ?? {},
    mayHave: late.mayHave,
    reach: late.reach,
    allow: async (allowed) => (await live?.allow(allowed)) ?? false,
    disallow: async (grant) => (await live?.disallow(grant)) ?? true,
    stats: async () => (existsSync(config.path) || live !== undefined ? (await open()).desk.stats() : undefined),
    start: () => {
      open()
        .then(({ start }) => start())
        .catch((thrown: unknown) => logger.error({ error: thrown }, "The MCP servers cannot be looked after."));
    },
    close: async () => {
      isClosed = true;
      await closeIfOpened(open, ({ close }) => close());
    },
  };

  async function allToolsReady(): Promise<void> {
    await live?.allToolsReady();
  }
}
