/*
 * A data folder at work: its engine is ours when we own the folder, else that of the process that does.
 *
 * K1  One process at a time drives a folder; ownership is a lock that dies with its holder.
 * K2  An owner listens on loopback, so that every other command on the folder works through it.
 * K3  When the owner disappears, the next to enter owns the folder and takes up what was left.
 * K4  An owner that ends first stops sending others to itself: they wait for the folder, not for an answer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  accessError,
  type Approvals,
  type Clock,
  createApprovals,
  type Conversations,
  createDryRun,
  createEngine,
  createMind,
  createModelRepairer,
  createSupervisor,
  createToolEntities,
  type EmbeddedEngine,
  type Engine,
  type Ids,
  type Infrastructure,
  type Json,
  type JsonObject,
  type Logger,
  type Mind,
  type MindDeps,
  type NewEvent,
  type ProgressUpdate,
  type RefinementLoops,
  type ToolGate,
  type ToolRegistry,
  type ToolSummary,
  toErgonError,
  validatePlan,
} from "@ergon/core";
import {
  type ApprovalCounter,
  askRemote,
  callRemoteTool,
  createRemoteApprovals,
  createRemoteConversations,
  callRemoteToolFor,
  createRemoteEngine,
  createRemoteLoops,
  createRemoteServers,
  createRemoteTokens,
  FIRST_PRINCIPAL,
  folderOwned,
  listRemoteTools,
  newSecret,
  openTokenBook,
  readFirstToken,
  type RemoteTarget,
  type ServersDesk,
  type SettingValues,
  type TokenBook,
  type TokenDesk,
} from "@ergon/node";
import type { Asking } from "./asking.ts";
import { createToolCalls } from "./call-tool.ts";
import type { Models } from "./choose-models.ts";
import { callDirectly } from "./direct-call.ts";
import { leadSubAgent } from "./hub/lead-sub-agent.ts";
import { type HubParts, openHub } from "./hub/open-hub.ts";
import type { CalledTool, CallTool } from "./http/http-parts.ts";
import { createHttpServer, type HttpServer, reachableHere } from "./http/server.ts";
import { keepLoops } from "./keep-loops.ts";
import { type AskTurn, isRefusal, makeLoop } from "./make-loop.ts";
import type { OpenedData } from "./open-data.ts";
import { ownMcp } from "./own-mcp.ts";
import type { PlanBooks } from "./plan-shelf.ts";
import { watchPlans } from "./watch-plans.ts";

/** An owner that starts says within this time where it listens; one that ends is gone by then. */
const LISTENING_MS = 20_000;
const LISTENING_POLL_MS = 50;
/** Calls under way get this long to end when a command ends. */
const DRAIN_MS = 4_000;

export type Workplace = {
  readonly engine: Engine;
  readonly loops: RefinementLoops;
  readonly conversations: Conversations;
  /** One turn of the planner loop; a failed run is an answer. */
  readonly ask: AskTurn;
  /** Where the owner listens: this process or another. */
  readonly url: string;
  readonly isOwner: boolean;
  /** By whoever typed it: it counts as approved. */
  readonly callTool: (call: TypedCall) => Promise<Json>;
  readonly tokens: TokenDesk;
  /** The MCP servers of the hub. */
  readonly servers: ServersDesk;
  /** Waits a little for servers that have just begun to start. */
  readonly everything: () => Promise<void>;
  /** Every tool that is there now, those of the hub's servers included. */
  readonly tools: () => Promise<readonly ToolSummary[]>;
  readonly approvals: ApprovalCounter;
  /** By somebody else, who is kept to what they may do. */
  readonly callFor: (call: CallTool) => Promise<CalledTool>;
  readonly close: () => Promise<void>;
};

type TypedCall = {
  readonly toolId: string;
  readonly args: JsonObject;
  readonly signal: AbortSignal;
  /** The audience it is called for. */
  readonly role?: string;
  /** Heard only when the tool runs in this process. */
  readonly progress?: (update: ProgressUpdate) => void;
};

export type WorkplaceParts = {
  readonly values: SettingValues;
  readonly version: string;
  /** The program's own entry, for processes of its own. */
  readonly entry: string;
  readonly registry: ToolRegistry;
  readonly gate: ToolGate;
  readonly asking: Pick<Asking, "grants" | "follow">;
  readonly models: Models;
  readonly plans: PlanBooks;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
  /** For the folder's MCP servers, when it becomes ours. */
  readonly hub: Pick<HubParts, "config" | "environment" | "costs" | "onLearned">;
  /** Takes the folder; says who has it when another does. */
  readonly open: () => Promise<OpenedData>;
  /** How long an owner that does not listen is waited for. */
  readonly patienceMs?: number;
};

export type Entrance = {
  /** Whether to take up unfinished sessions when the folder becomes ours: not for a look. */
  readonly recover: boolean;
  /** This process goes on until it is stopped: what is kept running is started now, not when it is needed. */
  readonly stays?: boolean;
  /** Tools of the hub's servers are shown to MCP clients, too. */
  readonly gateway?: boolean;
  /** Where to listen; loopback and a free port by default. */
  readonly listen?: {
    readonly host: string;
    readonly port: number;
    readonly firstToken?: string;
    readonly allowedHosts: readonly string[];
  };
};

export async function enterWorkplace(parts: WorkplaceParts, entrance: Entrance): Promise<Workplace> {
  const deadline = Date.now() + (parts.patienceMs ?? LISTENING_MS);
  for (;;) {
    const opened = await parts.open();
    if (opened.kind === "opened") return own(parts, opened, entrance);
    const { url, token } = opened.owner;
    const listens = url !== undefined && token !== undefined;
    if (listens && entrance.listen === undefined) return visit({ url, token });
    if (listens || Date.now() > deadline) throw folderOwned(parts.values.data, opened.owner);
    await sleep(LISTENING_POLL_MS);
  }
}

function visit(target: RemoteTarget): Workplace {
  return {
    engine: createRemoteEngine(target),
    loops: createRemoteLoops(target),
    conversations: createRemoteConversations(target, FIRST_PRINCIPAL),
    ask: (turn) => askRemote(target, { owner: FIRST_PRINCIPAL, ...turn }),
    url: target.url,
    isOwner: false,
    callTool: ({ progress: _unheard, ...call }) => callRemoteTool(target, { ...call, owner: FIRST_PRINCIPAL }),
    tokens: createRemoteTokens(target, FIRST_PRINCIPAL),
    servers: createRemoteServers(target, FIRST_PRINCIPAL),
    everything: async () => void (await listRemoteTools(target, FIRST_PRINCIPAL, { wait: true })),
    tools: () => listRemoteTools(target, FIRST_PRINCIPAL),
    approvals: createRemoteApprovals(target, FIRST_PRINCIPAL),
    callFor: (call) => callRemoteToolFor(target, call),
    close: () => Promise.resolve(),
  };
}

async function own(
  parts: WorkplaceParts,
  data: Extract<OpenedData, { kind: "opened" }>,
  entrance: Entrance,
): Promise<Workplace> {
  const { values, registry, models, clock, ids, logger, plans } = parts;
  const infrastructure = infrastructureOf(data, models);
  const hub = await openHub(hubParts(parts, data));
  const gate = hub.gate(parts.gate);
  const { grants } = parts.asking;
  grants.keepIn(data.approvals);
  const approvals = createApprovals({
    store: data.approvals,
    grants,
    registry,
    clock,
    logger,
    allowList: hub.allow,
    reach: hub.reach,
  });
  const bare = createEngine({
    store: data.state,
    blobs: data.blobs,
    gate,
    registry,
    plans,
    clock,
    ids,
    logger,
    infrastructure,
    approvals,
    fsyncEveryStep: values.fsync === "always",
    supervised: true,
  });
  const engine = hub.engine(bare, plans.get);
  const supervisor = createSupervisor({
    store: data.state,
    engine,
    registry,
    clock,
    logger,
    mode: values.corrections,
    sessionBudget: values.correctionBudget,
    ...(models.model === undefined ? {} : { repairer: createModelRepairer({ model: models.model }) }),
  });
  const { loops, tellAll } = keepLoops({ data, values, clock, logger });
  const turn = makeLoop({ data, engine, registry, gate, models, infrastructure, clock, ids, logger });
  const ask: typeof turn = async (request, options) => {
    await hub.everything();
    return turn(request, options);
  };
  const askTurn: AskTurn = async ({ request, signal, owner = FIRST_PRINCIPAL }) => {
    const { response, thrown } = await ask(request, { owner, signal });
    if (thrown !== undefined && isRefusal(thrown)) throw thrown;
    return response;
  };
  const subAgent = leadSubAgent({
    ...parts,
    servers: hub.desk,
    environment: parts.hub.environment,
    engine,
    approvals,
    tell: telling(data.state, logger),
  });
  const mind = await openMind({ ...parts, gate, toolsReady: hub.everything, subAgent }, data, engine, infrastructure);
  let server: HttpServer | undefined;
  // A command that does its work and ends has no use for what comes after.
  const watching =
    entrance.listen === undefined ? undefined : watchPlans({ folders: values.capabilities, plans, logger });
  const close = async (): Promise<void> => {
    try {
      await data.retire().catch((thrown: unknown) => {
        logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "server.json could not be changed.");
      });
      approvals.stop();
      watching?.close();
      await supervisor.stop({ graceMs: DRAIN_MS });
      await server?.close({ graceMs: DRAIN_MS });
      await mind.stop();
      await subAgent.close();
      tellAll();
      await engine.close({ graceMs: DRAIN_MS });
    } finally {
      await hub.close().catch((thrown: unknown) => {
        logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The MCP servers could not be ended.");
      });
      await data.close();
    }
  };
  try {
    const ready = { now: !entrance.recover };
    const localToken = newSecret();
    const firstToken = entrance.listen?.firstToken ?? (await readFirstToken(values.data));
    const tokens = await openTokenBook({ dataFolder: values.data, firstToken, localToken, clock });
    const shelf = shelves({ ...parts, gate, everything: hub.everything }, { engine, approvals }, data);
    const callFor = shelf.tools.call;
    const known = async () => registry.summaries();
    server = createHttpServer({
      ...shelf,
      approvals,
      servers: hub.desk,
      hubStats: hub.stats,
      loops,
      conversations: mind.conversations,
      subAgent,
      ids,
      ask,
      mcp: ownMcp({
        ...parts,
        engine,
        loops,
        ask: askTurn,
        everything: hub.everything,
        tools: known,
        callFor,
        gateway: entrance.gateway === true,
        watchEvents: data.state.watch,
        ...(watching && { onPlans: watching.listen }),
      }),
      tokens,
      clock,
      logger,
      version: parts.version,
      allowedHosts: entrance.listen?.allowedHosts ?? [],
      activeRuns: engine.activeRuns,
      isReady: () => ready.now,
    });
    const url = await server.listen(entrance.listen?.host ?? "127.0.0.1", entrance.listen?.port ?? 0);
    await data.announce(reachableHere(url), localToken);
    supervisor.start({ catchUp: entrance.recover });
    approvals.start(engine.settleApproval);
    if (entrance.recover) {
      recoverBehind(engine, logger);
      await mind.start();
    }
    ready.now = true;
    if (entrance.stays === true) hub.start();
    return {
      engine,
      loops,
      conversations: mind.conversations,
      ask: askTurn,
      url,
      isOwner: true,
      callTool: async ({ role, ...call }) => {
        const audience = role === undefined ? {} : { role };
        const caller = { kind: "cli", owner: FIRST_PRINCIPAL, approved: true, ...audience } as const;
        const called = await callDirectly(
          { gate, open: () => Promise.resolve(data), clock, ids, infrastructure },
          { ...call, caller },
        );
        if (called.kind === "finished") return called.output;
        throw new Error("The gate asks about a call that counts as approved.");
      },
      tokens: deskOf(tokens, localToken),
      servers: hub.desk,
      everything: hub.everything,
      tools: known,
      callFor,
      approvals: counterOf(approvals),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function hubParts(
  { hub, asking, values, registry, clock, logger }: WorkplaceParts,
  { state }: Extract<OpenedData, { kind: "opened" }>,
): HubParts {
  return {
    ...hub,
    asking,
    dataFolder: values.data,
    isKept: values.store !== "memory:",
    registry,
    clock,
    logger,
    tell: (events) => telling(state, logger)(FIRST_PRINCIPAL, events),
  };
}

/** Puts events into the outbox that belong to no session; nobody waits for them. */
function telling(
  { commit }: Extract<OpenedData, { kind: "opened" }>["state"],
  logger: Logger,
): (owner: string, events: readonly NewEvent[]) => void {
  return (owner, events) => {
    commit({ sessionId: "", owner, events }).catch((thrown: unknown) => {
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "A change was not told.");
    });
  };
}

/** The loop that answers conversations, on this folder's stores; it does nothing before it is started. */
function openMind(
  {
    values,
    registry,
    gate,
    hub,
    models,
    clock,
    ids,
    logger,
    toolsReady,
    subAgent,
  }: WorkplaceParts & Pick<MindDeps, "toolsReady" | "subAgent">,
  data: Extract<OpenedData, { kind: "opened" }>,
  engine: EmbeddedEngine,
  infrastructure: Omit<Infrastructure, "sessionId">,
): Promise<Mind> {
  return createMind({
    store: data.conversations,
    state: data.state,
    engine,
    registry,
    models: models.all,
    costs: hub.costs,
    embedder: data.vectors.around(models.embedder),
    entities: createToolEntities({ registry, gate, clock, owner: FIRST_PRINCIPAL, infrastructure }),
    clock,
    ids,
    logger,
    owner: FIRST_PRINCIPAL,
    replenishPerSecond: values.energyRate,
    energy: { pauseAt: values.energyPause, resumeAt: values.energyResume, whenLow: values.energyLow },
    ...(toolsReady === undefined ? {} : { toolsReady }),
    ...(subAgent === undefined ? {} : { subAgent }),
  });
}

/** What actions get beside their args and the context. */
function infrastructureOf(
  { supabase }: Extract<OpenedData, { kind: "opened" }>,
  { model, embedder }: Models,
): Omit<Infrastructure, "sessionId"> {
  return { supabase: supabase.client, embedder, ...(model === undefined ? {} : { model }) };
}

function deskOf(tokens: TokenBook, localToken: string): TokenDesk {
  const by = tokens.find(localToken);
  if (by === undefined) throw accessError("unauthorized", "This process does not know its own token.");
  return {
    add: async (name, scope) => {
      const { token, info } = await tokens.add({ name, scope, by });
      return { ...info, token };
    },
    list: () => Promise.resolve(tokens.list(by)),
    revoke: (name) => tokens.revoke(name, by),
  };
}

/** Whoever works on the data folder itself sees every question in it. */
function counterOf(approvals: Approvals): ApprovalCounter {
  const by = { name: FIRST_PRINCIPAL };
  return {
    list: (query) => approvals.list(by, query),
    find: (id) => approvals.find(by, id),
    decide: (id, decision) => approvals.decide(by, id, decision),
  };
}

/** Taking up what was left must not keep anybody waiting. */
function recoverBehind(engine: EmbeddedEngine, logger: Logger): void {
  engine.recover().catch((thrown: unknown) => {
    logger.error(
      { error: toErgonError(thrown, "recovery_failed").toJSON() },
      "Unfinished sessions could not be taken up.",
    );
  });
}

/** What the server shows of the wired parts. */
function shelves(
  parts: WorkplaceParts & { readonly everything: () => Promise<void> },
  { engine, approvals }: { readonly engine: EmbeddedEngine; readonly approvals: Approvals },
  data: Extract<OpenedData, { kind: "opened" }>,
): Pick<Parameters<typeof createHttpServer>[0], "engine" | "outbox" | "tools" | "plans"> {
  const { gate, registry, models, plans, clock, ids } = parts;
  return {
    engine,
    outbox: { lastSeq: data.state.lastEventSeq, read: data.state.readEvents, changes: data.state.changes },
    tools: {
      everything: parts.everything,
      list: () => registry.summaries(),
      call: createToolCalls({
        gate,
        open: () => Promise.resolve(data),
        clock,
        ids,
        infrastructure: infrastructureOf(data, models),
        engine,
        approvals,
      }),
    },
    plans: {
      list: () => plans.all.map(({ plan }) => plan),
      get: plans.get,
      dryRun: createDryRun({ gate, registry, plans, clock, ids }),
      validate: (plan, input) => validatePlan(plan, { registry, ...(input === undefined ? {} : { input }) }),
    },
  };
}
