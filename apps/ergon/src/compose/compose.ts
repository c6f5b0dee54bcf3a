// The only wiring: which implementation stands behind each port. Parts are made when they are first asked for, and what
// is heavy to load is loaded then.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createSystemClock, type Sandbox, ToolRegistry } from "@ergon/core";
import { setSpecDefaults } from "@ergon/core/spec";
import { thrownFrom } from "@ergon/core/schema";
import { createIds, createMemoryStateStore } from "@ergon/core/store-kit";
import { createCostModel, createToolGate } from "@ergon/core/engine";
import {
  createPinoLogger,
  createSupabase,
  FIRST_PRINCIPAL,
  type FolderPlace,
  homeOf,
  inspectSupabase,
  ownPaths,
  isTrustedProject,
  judgeFolder,
  prepareFolder,
  processEnvironment,
  readFolderId,
  readKeptToken,
  readSettings,
  type SettingFlags,
  type SettingValues,
  stateFolder,
} from "@ergon/node";
import type { App } from "../workspace/app.ts";
import { bundleIn, isBuilt, locate } from "./locate.ts";
import { createAsking } from "../services/approval-rules.ts";
import type { CapabilityPlace } from "../services/capability-report.ts";
import { chooseModels } from "../services/choose-models.ts";
import { dataRootsFor } from "../workspace/data-roots.ts";
import { isNamed } from "../workspace/is-named.ts";
import { closeIfOpened, lazy, whenUsed } from "../services/lazy.ts";
import { logLine } from "../cli/output/log-line.ts";
import type { GlobalFlags } from "../cli/command-group.ts";
import type { OpenOptions, Workspace, WorkspaceParts } from "../workspace/workspace.ts";
import type { ProgramParts } from "../library/options.ts";
import { packPlaces } from "../library/pack-places.ts";

export type ComposeOptions = {
  readonly flags: GlobalFlags & SettingFlags;
  /** The folder of the entry point that runs: sources, or what was built from them. */
  readonly home: string;
  readonly version: string;
  /** For a program that uses Ergon as a library. */
  readonly program?: ProgramParts;
} & Pick<WorkspaceParts, "stopping" | "note" | "fatal">;

export function compose({ flags, home, version, program, stopping, note, fatal }: ComposeOptions): App {
  const { json: _, ...given } = flags;
  const environment = processEnvironment();
  const userState = stateFolder(environment.env);
  const settings = readSettings({
    flags: given,
    ...environment,
    mayUse: (path) => isUsable({ path, isNamed: true, stateFolder: userState }),
    // A program says itself what it uses.
    ...(program === undefined && { trustsProject: (folder: string) => isTrustedProject(userState, folder) }),
  });
  const { values } = settings;
  const place = {
    path: values.data,
    isNamed: isNamed(settings, "data"),
    stateFolder: userState,
    sharedToken: values.token,
  };
  const clock = createSystemClock();
  const ids = createIds({ clock });
  const logger = program?.logger ?? createPinoLogger({ level: values.log, write: writeLog });
  let usualUnits: ((toolId: string) => number | undefined) | undefined;
  const costs = createCostModel({
    usualUnits: (toolId) => usualUnits?.(toolId),
    unitsPerSecond: values.energyCost,
  });
  const registry = new ToolRegistry({ costs });
  const entry = join(home, isBuilt(home) ? "cli.js" : "cli.ts");
  const sandbox = lazy(async () => {
    const { openSandbox } = await import("./open-sandbox.ts");
    return openSandbox({ values, entry, clock, logger });
  });
  const own = ownPaths(values, process.env);
  const dataRoots = dataRootsFor(values.dataRoots, process.cwd(), join(locate(home).packs, "samples"));
  const asking = createAsking(settings, clock);
  const gate = createToolGate({
    registry,
    clock,
    logger,
    costs,
    sandbox: whenUsed(sandbox),
    dataRoots,
    deniedPaths: own,
    policy: program?.policy(asking.policy) ?? asking.policy,
  });
  const models = chooseModels(values, clock, { isEmbedderNamed: isNamed(settings, "embedder"), given: program?.model });
  // For tools that call document 1's functions as the document does.
  setSpecDefaults(models);

  const { packs, shared, schema } = locate(home);
  const supabase = () =>
    createSupabase({
      dataFolder: values.data,
      schema,
      logger,
      embedder: async () => models.embedder,
      ...hostedSupabase(values),
    });

  // Ours first: neither a tool nor a plan of a user can take the name of one of ours.
  const named = values.capabilities.map((folder) => ({ folder, source: "named" as const }));
  const bundled =
    program === undefined ? [{ folder: packs, source: "builtin" as const }] : packPlaces(packs, program.packs);
  const places: readonly CapabilityPlace[] = [...bundled, ...named];
  for (const tool of program?.tools ?? []) registry.register(tool);
  const capabilities = lazy(async () => {
    const { loadCapabilities } = await import("./load-capabilities.ts");
    return loadCapabilities({ registry, places, shared, model: models.model });
  });
  const plans = lazy(async () => (await import("../services/plan-catalog.ts")).gatherPlans(places, program?.plans));
  const servers = { path: values.mcpConfig, isNamed: isNamed(settings, "mcpConfig") };
  let entered: Promise<Workspace> | undefined;
  const closing = new AbortController();

  const app: App = {
    settings,
    hasServers: () => existsSync(servers.path),
    dataRoots,
    model: models.choice,
    logger,
    capabilities,
    plans,
    checkCall: async ({ role, ...call }) => {
      await capabilities();
      const { inspectData } = await import("../workspace/inspect-data.ts");
      const audience = role === undefined ? {} : { role };
      const caller = { kind: "cli", owner: FIRST_PRINCIPAL, approved: true, ...audience } as const;
      const checked = await gate.check({ ...call, caller, context: {} });
      if (checked.kind !== "denied") return;
      const ownerMayKnow =
        checked.error.code === "tool_not_found" &&
        (existsSync(servers.path) || (await inspectData(place)).state === "owned");
      if (!ownerMayKnow) throw thrownFrom(checked.error);
    },
    knowTools: async (plan) => {
      const { knowTools } = await import("../hub/hub-tools.ts");
      await capabilities();
      return knowTools(app, registry, typeof plan === "string" ? (await plans()).get(plan) : plan);
    },
    dryRun: async (request) => {
      await app.knowTools(request.plan);
      const { createDryRun } = await import("@ergon/core/engine");
      return createDryRun({ gate, registry, plans: await plans(), clock, ids })(request);
    },
    enter: (openOptions) =>
      (entered ??= enter(openOptions).catch((thrown: unknown) => {
        entered = undefined;
        throw thrown;
      })),
    leave,
    inspectData: async () => {
      const { inspectData } = await import("../workspace/inspect-data.ts");
      return inspectData(place);
    },
    checkFolder: () => void judgeFolder(place),
    logins: async () => (await import("@ergon/node")).openFileLoginStore(values.data),
    prepareFolder: () => prepareFolder(place),
    firstToken: async () => {
      const id = readFolderId(values.data);
      return values.token ?? (id === undefined ? undefined : readKeptToken(homeOf(userState, id)));
    },
    inspectDatabase: () => inspectSupabase(values.data, hostedSupabase(values).hosted?.url),
    sandboxProfiles: async () => {
      const { createRemoteSandbox } = await import("@ergon/node");
      const { sandboxUrl: url, sandboxToken: token } = values;
      const elsewhere = url !== undefined && token !== undefined;
      return (elsewhere ? createRemoteSandbox({ url, token }) : await localSandbox()).profiles();
    },
    searchServers: async (words, limit, signal) => {
      const { createRegistryClient, openRegistryCache } = await import("@ergon/node");
      await prepareFolder(place);
      const client = createRegistryClient(values.mcpRegistry);
      const cache = openRegistryCache({
        path: join(values.data, "registry.db"),
        client,
        now: () => clock.now(),
        logger,
      });
      try {
        return await cache.search(words, { limit, signal });
      } finally {
        await cache.close();
      }
    },
    serveSubAgent: async () => {
      const { runSubAgentWorker } = await import("@ergon/node");
      const channel = { on: process.on.bind(process), send: process.send?.bind(process) };
      const closed = new Promise<void>((resolve) => process.once("disconnect", resolve));
      runSubAgentWorker({ dataFolder: values.data, registryUrl: values.mcpRegistry, logger, channel, own });
      await closed;
    },
    serveSandbox: async (door) => {
      const { serveSandbox } = await import("@ergon/node");
      return serveSandbox({ ...door, logger, sandbox: await localSandbox() });
    },
    close: async () => {
      closing.abort(new DOMException("The program ends.", "AbortError"));
      await leave();
      await closeIfOpened(sandbox, (opened) => opened.close());
    },
  };
  return app;

  async function enter(openOptions: OpenOptions): Promise<Workspace> {
    const [{ openWorkspace }, { openData }, { openMemory }] = await Promise.all([
      import("./open-workspace.ts"),
      import("./open-data.ts"),
      import("./open-memory.ts"),
    ]);
    await capabilities();
    const memoryState = () => createMemoryStateStore({ logger });
    const stores = { values, place, logger, memoryState, supabase };
    const open = async () => (program?.isMemory === true ? openMemory(stores) : openData(stores));
    const books = await plans();
    const hub = {
      config: servers,
      environment: environment.env,
      costs,
      ...(isNamed(settings, "mcpAutoDiscovery") ? { autoDiscovery: values.mcpAutoDiscovery } : {}),
      onLearned: (learned: typeof usualUnits) => void (usualUnits = learned),
    };
    return openWorkspace(
      {
        values,
        version,
        entry,
        registry,
        gate,
        models,
        plans: books,
        clock,
        ids,
        logger,
        stopping,
        note,
        fatal,
        open,
        hub,
        asking,
        closing: closing.signal,
      },
      openOptions,
    );
  }

  async function localSandbox(): Promise<Sandbox> {
    const { createLocalSandbox, firstWritable } = await import("@ergon/node");
    // What it keeps is loaded as it is: it may not come with a data folder.
    const cacheFolder = firstWritable([join(userState, "sandbox"), join(values.data, "sandbox")]);
    return createLocalSandbox({ bundle: bundleIn(home), cacheFolder, clock });
  }

  /** A folder that is being entered is left, too: else the process would end with the folder in use. */
  async function leave(gone?: Workspace): Promise<void> {
    const left = entered;
    const workspace = await left?.catch(() => undefined);
    if (left !== entered || (gone !== undefined && gone !== workspace)) return;
    // Until it is closed it is not entered anew: its parts look at it while they end.
    await workspace?.close();
    if (left === entered) entered = undefined;
  }
}

/** Why it is not, every command but `doctor` says and stops; `doctor` goes on without what is in it. */
function isUsable(place: FolderPlace): boolean {
  try {
    judgeFolder(place);
    return true;
  } catch {
    return false;
  }
}

/** People at a screen read words; everything else reads JSON. */
function writeLog(line: string): void {
  process.stderr.write(process.stderr.isTTY ? logLine(line) : line);
}

function hostedSupabase({ supabaseUrl: url, supabaseServiceRoleKey: key }: SettingValues): {
  readonly hosted?: { readonly url: string; readonly key: string };
} {
  return url === undefined || key === undefined ? {} : { hosted: { url, key } };
}
