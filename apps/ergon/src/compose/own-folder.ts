import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  acknowledging,
  createApprovalService,
  createEngine,
  createModelRepairer,
  createSupervisor,
  type EmbeddedEngine,
  type ErgonError,
  type Logger,
  type NewEvent,
  PlanVerdict,
  syncEnds,
  toErgonError,
  usageError,
} from "@ergon/core";
import { FIRST_PRINCIPAL, newSecret, openTokenStore, readFirstToken } from "@ergon/node";
import { leadSubAgent } from "../hub/host-sub-agent.ts";
import { type HubParts, openHub } from "../hub/open-hub.ts";
import { reachableHere } from "../http/server/addresses.ts";
import { createLateServer } from "../http/server/late-server.ts";
import type { AnsweringServer, HttpServer } from "../http/server/server.ts";
import { keepLoops } from "./keep-loops.ts";
import { describeEnd, unhurried } from "../workspace/leaving.ts";
import { type AskTurn, isRefusal, makeLoop } from "../services/make-loop.ts";
import type { ValidatePlan } from "../mcp/drive/with-owner.ts";
import { openConversations } from "./open-conversations.ts";
import { ownMcp } from "./own-mcp.ts";
import { quieter } from "../services/quieter.ts";
import { approvalClientOf, tokenAdminOf, infrastructureOf, httpServices } from "./http-services.ts";
import { watchPlans } from "../services/watch-plans.ts";
import type { OpenOptions, OwnedData, Workspace, WorkspaceParts } from "../workspace/workspace.ts";

/** Calls under way get this long to end when a process is asked to go. */
const DRAIN_MS = 4_000;

/** Everything that works on a folder that is ours, wired and listening; what fails on the way is closed again. */
export async function own(parts: WorkspaceParts, data: OwnedData, openOptions: OpenOptions): Promise<Workspace> {
  const { values, registry, models, clock, ids, logger, plans } = parts;
  const infrastructure = infrastructureOf(data, models);
  const hub = await openHub(hubParts(parts, data, openOptions));
  const gate = hub.gate(parts.gate);
  const { grants } = parts.asking;
  grants.keepIn(data.approvals);
  const approvals = createApprovalService({
    store: data.approvals,
    grants,
    registry,
    clock,
    logger,
    allowList: hub.allow,
    disallow: hub.disallow,
    reach: hub.reach,
  });
  const engineHere = createEngine({
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
  const engine = hub.engine(acknowledging(engineHere, data.state), plans.get);
  const stopSyncing = syncEnds(data.state, logger);
  const supervisor = createSupervisor({
    store: data.state,
    engine,
    registry,
    clock,
    logger: openOptions.stays === true ? logger : quieter(logger),
    mode: values.corrections,
    sessionBudget: values.correctionBudget,
    ...(models.model === undefined ? {} : { repairer: createModelRepairer({ model: models.model }) }),
  });
  const { loops, tellAll } = keepLoops({ data, values, clock, logger });
  const turn = makeLoop({ data, engine, registry, gate, models, infrastructure, clock, ids, logger });
  const ask: typeof turn = async (request, options) => {
    await hub.allToolsReady();
    return turn(request, options);
  };
  const askTurn: AskTurn = async ({ request, signal, owner = FIRST_PRINCIPAL }) => {
    const { response, thrown } = await ask(request, { owner, signal });
    if (thrown !== undefined && isRefusal(thrown)) throw thrown;
    return response;
  };
  const isEnabled = (): boolean => hub.settings().subAgentEnabled !== false;
  const subAgent = leadSubAgent({
    ...parts,
    place: data.place,
    servers: hub.desk,
    environment: parts.hub.environment,
    engine,
    approvals,
    isEnabled,
    tell: telling(data.state, logger),
  });
  const mayDiscover = (): boolean =>
    isEnabled() && (parts.hub.autoDiscovery ?? hub.settings().autoDiscoveryEnabled ?? false);
  const conversationService = await openConversations(
    { ...parts, gate, toolsReady: hub.allToolsReady, subAgent, mayDiscover },
    data,
    engine,
    infrastructure,
  );
  let server: HttpServer | undefined;
  // A command that does its work and ends has no use for what comes after.
  const watching =
    openOptions.listen === undefined ? undefined : watchPlans({ folders: values.capabilities, plans, logger });
  const sayWhatEnds = (): void => {
    const line = describeEnd(engine.underWay());
    if (line !== undefined) parts.note(line);
  };
  process.on("exit", sayWhatEnds);
  const close = async (): Promise<void> => {
    try {
      approvals.stop();
      watching?.close();
      await supervisor.stop({ graceMs: DRAIN_MS });
      // Before others are told that we go: what they take over then is not taken a step further here.
      engine.drain();
      await data.retire().catch((thrown: unknown) => {
        logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "server.json could not be changed.");
      });
      if (openOptions.stays !== true) await unhurried(engine.onceCallsDone(), parts);
      await server?.close({ graceMs: DRAIN_MS });
      await conversationService.stop();
      await subAgent.close();
      tellAll();
      await engine.close({ graceMs: DRAIN_MS });
      stopSyncing();
    } finally {
      process.off("exit", sayWhatEnds);
      await hub.close().catch((thrown: unknown) => {
        logger.error({ error: toErgonError(thrown, "internal").toJSON() }, "The MCP servers could not be ended.");
      });
      await data.close();
    }
  };
  try {
    const ready = { now: !openOptions.recover };
    whenLost(data.lost, (error) => {
      ready.now = false;
      logger.error({ error: error.toJSON() }, "The data folder is no longer this process's: it ends at once.");
      parts.fatal(error);
    });
    const { localToken } = data;
    const firstToken = openOptions.listen?.firstToken ?? (await firstTokenOf(data, parts, openOptions));
    const tokens = await openTokenStore({ dataFolder: values.data, firstToken, localToken, clock });
    const shelf = httpServices({ ...parts, gate, allToolsReady: hub.allToolsReady }, engine, data);
    const known = async () => registry.summaries();
    const validatePlan: ValidatePlan = async ({ plan, input }) => PlanVerdict.parse(shelf.plans.validate(plan, input));
    const approvalsOf = (owner: string) =>
      approvalClientOf(approvals, { name: owner, owners: [owner], throughClient: true });
    const answering = async (): Promise<AnsweringServer> => {
      const { createHttpServer } = await import("../http/server/server.ts");
      return createHttpServer({
        ...shelf,
        approvals,
        servers: hub.desk,
        hubStats: hub.stats,
        loops,
        conversations: conversationService.conversations,
        subAgent,
        ids,
        ask,
        mcp: ownMcp({
          ...parts,
          engine,
          loops,
          ask: askTurn,
          allToolsReady: hub.allToolsReady,
          tools: known,
          validatePlan,
          approvalsOf,
          servers: hub.desk,
          gateway: openOptions.gateway === true,
          watchEvents: data.state.watch,
          ...(watching && { onPlans: watching.listen }),
        }),
        tokens,
        clock,
        logger,
        version: parts.version,
        allowedHosts: openOptions.listen?.allowedHosts ?? [],
        activeRuns: engine.activeRuns,
        isReady: () => ready.now,
        storeHealth: data.health,
      });
    };
    server = openOptions.listen === undefined ? createLateServer(answering, { logger }) : await answering();
    const url = await server.listen(openOptions.listen?.host ?? "127.0.0.1", openOptions.listen?.port ?? 0);
    await data.announce(reachableHere(url));
    supervisor.start({ catchUp: openOptions.recover });
    approvals.start(engine.settleApproval);
    if (openOptions.recover) {
      // Whoever comes by for something else must not fail the sessions of others for want of their tools.
      const knows = (toolId: string): boolean => registry.has(toolId) || hub.mayHave(toolId);
      recoverBehind(() => engine.recover(openOptions.stays === true ? {} : { knows }), logger);
      await conversationService.start();
    }
    ready.now = true;
    if (openOptions.stays === true) hub.start();
    return {
      engine,
      loops,
      conversations: conversationService.conversations,
      ask: askTurn,
      url,
      isOwner: true,
      tokens: tokenAdminOf(tokens, localToken),
      servers: hub.desk,
      allToolsReady: hub.allToolsReady,
      tools: known,
      validatePlan,
      // Whoever works on the data folder itself sees every question in it.
      approvals: approvalClientOf(approvals, { name: FIRST_PRINCIPAL }),
      approvalsOf,
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** Kept in the state folder. Where there is none, a server must be given one, and other commands go without. */
async function firstTokenOf(
  { home }: OwnedData,
  { values, note }: WorkspaceParts,
  { listen }: OpenOptions,
): Promise<string> {
  if (home.notice !== undefined) note(home.notice);
  const old = join(values.data, "token");
  if (existsSync(old)) note(`${old}, a token of an earlier Ergon, is not used. To use it: ergon trust ${values.data}`);
  if (home.folder !== undefined) return readFirstToken(home.folder);
  if (listen !== undefined) throw usageError("usage", "Set ERGON_TOKEN: there is no state folder to keep a token in.");
  return newSecret();
}

function whenLost(lost: AbortSignal, act: (error: ErgonError) => void): void {
  const tell = (): void => act(toErgonError(lost.reason, "ownership_lost"));
  if (lost.aborted) tell();
  else lost.addEventListener("abort", tell, { once: true });
}

function hubParts(
  { hub, asking, values, registry, models: { model }, clock, logger }: WorkspaceParts,
  { state, place }: OwnedData,
  { stays = false }: OpenOptions,
): HubParts {
  return {
    ...hub,
    stays,
    ...(model === undefined ? {} : { model }),
    asking,
    dataFolder: values.data,
    place,
    isKept: values.store !== "memory:",
    registry,
    clock,
    logger,
    tell: (events) => telling(state, logger)(FIRST_PRINCIPAL, events),
  };
}

/** Puts events into the outbox that belong to no session; nobody waits for them. */
function telling({ commit }: OwnedData["state"], logger: Logger): (owner: string, events: readonly NewEvent[]) => void {
  return (owner, events) => {
    commit({ sessionId: "", owner, events }).catch((thrown: unknown) => {
      logger.warn({ error: toErgonError(thrown, "store_unavailable").toJSON() }, "A change was not told.");
    });
  };
}

/** Taking up what was left must not keep anybody waiting. */
function recoverBehind(recover: EmbeddedEngine["recover"], logger: Logger): void {
  recover().catch((thrown: unknown) => {
    logger.error(
      { error: toErgonError(thrown, "recovery_failed").toJSON() },
      "Unfinished sessions could not be taken up.",
    );
  });
}
