/*
 * What the sub-agent's own process does: asks registries, installs, probes. It writes nowhere but into the install folder,
 * and answers with what it found; configurations, approvals and energy are others'.
 */
import { join } from "node:path";
import type { Json } from "@ergon/core";
import {
  deriveServer,
  hubError,
  judgeEntry,
  judgePackage,
  type McpConnector,
  MCPServerConfig,
  npmPackageOf,
  type Objection,
  PackageFacts,
  RegistryEntry,
} from "@ergon/core/hub";
import { z } from "zod";
import { findFence } from "../../sandbox/fence.ts";
import { lookForFence } from "../../sandbox/profiles.ts";
import { fencedServer } from "../install/fence-server.ts";
import { installPackage } from "../install/install-package.ts";
import { readPackageFacts } from "../install/package-facts.ts";
import { probeServer } from "../install/probe-server.ts";
import type { RegistryCache } from "../install/registry-cache.ts";
import type { RegistryClient } from "../install/registry-client.ts";
import { realServersFolder, removeServerFolder } from "../install/server-folder.ts";

export const WORK_KINDS = ["search", "judge", "install", "probe", "uninstall"] as const;
export type WorkKind = (typeof WORK_KINDS)[number];

const WORK_PARAMS = {
  search: z.object({ words: z.string().max(1_000), limit: z.int().positive().max(50) }),
  judge: z.object({
    name: z.string().max(200),
    version: z.string().max(255).optional(),
    /** Names of variables that Ergon's environment has, and of packages that are configured. */
    environment: z.array(z.string()),
    servers: z.array(z.string()),
  }),
  install: z.object({ entry: RegistryEntry, facts: PackageFacts, id: z.string().regex(/^[a-z0-9-]{1,24}$/) }),
  /** Behind a fence it is tried for the first time; otherwise it runs as it is configured. */
  probe: z.object({ config: MCPServerConfig, secrets: z.array(z.string()), fenced: z.boolean() }),
  uninstall: z.object({ id: z.string().regex(/^[a-z0-9-]{1,24}$/) }),
} as const;

export type WorkParts = {
  /** Each server has a folder in here. */
  readonly folder: string;
  readonly client: RegistryClient;
  readonly cache: RegistryCache;
  readonly connector: McpConnector;
  readonly now: () => number;
};

export type Work = (kind: WorkKind, params: Json, signal: AbortSignal) => Promise<Json>;

export function createWork({ folder, client, cache, connector, now }: WorkParts): Work {
  return async (kind, params, signal) => {
    switch (kind) {
      case "search": {
        const { words, limit } = WORK_PARAMS.search.parse(params);
        return asJson(await cache.search(words, { limit, signal }));
      }
      case "judge": {
        const { name, version, environment, servers } = WORK_PARAMS.judge.parse(params);
        const entry = await client.read(name, version, signal);
        refuse(entry, judgeEntry(entry, { environment: new Set(environment), servers }));
        const { identifier = "", version: exact = "" } = npmPackageOf(entry) ?? {};
        const facts = await readPackageFacts(identifier, exact, signal);
        refuse(entry, judgePackage(entry, facts, now()));
        return asJson({ entry, facts });
      }
      case "install": {
        const { entry, facts, id } = WORK_PARAMS.install.parse(params);
        const { dependencies, ...installed } = await installPackage(facts, { servers: folder, id, now, signal });
        const { access, ...config } = deriveServer(entry, { id, node: process.execPath, ...installed });
        // Where nothing can be shut off, asking for it would only keep the server from starting; the person is told.
        return asJson({ config: "missing" in (await look()) ? config : { ...config, access }, dependencies });
      }
      case "probe": {
        const { config, secrets, fenced } = WORK_PARAMS.probe.parse(params);
        if (!fenced) return asJson(await probeServer(connector, config, { secrets, signal }));
        const found = await look();
        // Nothing of a stranger's is started with the user's own rights before the user has said yes.
        if ("missing" in found) return { untried: `It cannot be tried apart from everything else: ${found.missing}` };
        const apart = fencedServer(found.fence, config, join(await realServersFolder(folder), config.id));
        return asJson(await probeServer(connector, apart, { secrets, signal }));
      }
      case "uninstall": {
        const { id } = WORK_PARAMS.uninstall.parse(params);
        await removeServerFolder(folder, id);
        return null;
      }
    }
  };
}

function look(): ReturnType<typeof lookForFence> {
  return lookForFence(findFence);
}

function refuse({ name }: RegistryEntry, objections: readonly Objection[]): void {
  if (objections.length === 0) return;
  const message = `${name} is not installed. ${objections.map((objection) => objection.message).join(" ")}`;
  throw hubError("install_refused", message, { details: { objections: asJson(objections) } });
}

/** Only plain values are made here. */
function asJson(value: unknown): Json {
  return value as Json;
}
