/*
 * The services of a folder that this process owns, each declared with what it needs and built on first use: by the command
 * itself, or by a client that connects. What every run needs is in owned-engine.ts; when each starts and ends, in
 * own-folder.ts.
 */
import { validatePlan as validate } from "@ergon/core";
import { PlanVerdict } from "@ergon/core/schema";
import { type ConversationService, conversationsLeft } from "@ergon/core/conversation";
import { FIRST_PRINCIPAL, hasSubAgentRequests, openTokenStore, type OwnedSubAgent, type TokenAdmin } from "@ergon/node";
import { leadSubAgent } from "../hub/host-sub-agent.ts";
import type { AnsweringServer } from "../http/server/server.ts";
import type { McpWorkspace } from "../mcp/drive/with-owner.ts";
import { type Lazy, lazy, whenUsed } from "../services/lazy.ts";
import { type AskLoop, type AskTurn, isRefusal, makeLoop } from "../services/make-loop.ts";
import { type PlanWatch, watchPlans } from "../services/watch-plans.ts";
import type { OpenOptions, OwnedData, Workspace, WorkspaceParts } from "../workspace/workspace.ts";
import { approvalClientOf, httpServices, tokenAdminOf } from "./http-services.ts";
import { keepLoops, type KeptLoops } from "./keep-loops.ts";
import { openConversations } from "./open-conversations.ts";
import type { OwnedEngine } from "./owned-engine.ts";
import { ownMcp } from "./own-mcp.ts";

export type OwnedServices = {
  readonly loops: Lazy<KeptLoops>;
  /** Runs once it is open, if this process takes up what was left. */
  readonly conversations: Lazy<Promise<ConversationService>>;
  /** An earlier process left conversations or sub-agent requests unfinished. */
  readonly conversationsLeft: () => Promise<boolean>;
  readonly subAgent: OwnedSubAgent;
  /** Absent in a command that does its work and ends. */
  readonly planWatch: PlanWatch | undefined;
  /** Answers HTTP and MCP requests. */
  readonly answering: () => Promise<AnsweringServer>;
  /** What commands and MCP ask of the folder. */
  readonly forMcp: McpWorkspace;
  readonly forCommands: Pick<Workspace, "conversations" | "tokens" | "approvals">;
};

export function declareServices(
  parts: WorkspaceParts,
  { data, options, core, firstToken, isReady }: ServiceNeeds,
): OwnedServices {
  const { values, registry, models, plans, clock, ids, logger } = parts;
  const { hub, gate, approvals, engine, infrastructure, publish } = core;
  const { allToolsReady, desk: servers } = hub;
  const { listen, recover } = options;

  const loops = lazy(() => keepLoops({ data, values, clock, logger }));
  const turn = lazy(() => makeLoop({ data, engine, registry, gate, models, infrastructure, clock, ids, logger }));
  const api = lazy(() => httpServices({ ...parts, gate, allToolsReady }, engine, data));
  const tokens = lazy(async () =>
    openTokenStore({ dataFolder: values.data, firstToken: await firstToken(), localToken: data.localToken, clock }),
  );
  const isEnabled = (): boolean => hub.settings().subAgentEnabled !== false;
  // Its tools are known from the start; the rest of it comes with its first request.
  const subAgent = leadSubAgent({
    ...parts,
    place: data.place,
    servers,
    environment: parts.hub.environment,
    engine,
    approvals,
    isEnabled,
    tell: publish,
  });
  const conversations = lazy(async () => {
    const mayDiscover = (): boolean =>
      isEnabled() && (parts.hub.autoDiscovery ?? hub.settings().autoDiscoveryEnabled ?? false);
    const service = await openConversations(
      { ...parts, gate, toolsReady: allToolsReady, subAgent, mayDiscover },
      data,
      engine,
      infrastructure,
    );
    if (recover) await service.start();
    return service;
  });
  const planWatch = listen === undefined ? undefined : watchPlans({ folders: values.capabilities, plans, logger });

  const ask: AskLoop = async (request, turnOptions) => {
    await allToolsReady();
    return turn()(request, turnOptions);
  };
  const askTurn: AskTurn = async ({ request, signal, owner = FIRST_PRINCIPAL }) => {
    const { response, thrown } = await ask(request, { owner, signal });
    if (thrown !== undefined && isRefusal(thrown)) throw thrown;
    return response;
  };
  const loopsWhenUsed = whenUsed(async () => loops().loops);
  const conversationsWhenUsed = whenUsed(async () => (await conversations()).conversations);
  const tokenAdmin: TokenAdmin = whenUsed(async () => tokenAdminOf(await tokens(), data.localToken));
  const forMcp: McpWorkspace = {
    engine,
    loops: loopsWhenUsed,
    ask: askTurn,
    allToolsReady,
    tools: async () => registry.summaries(),
    validatePlan: async ({ plan, input }) =>
      PlanVerdict.parse(validate(plan, { registry, ...(input === undefined ? {} : { input }) })),
    approvalsOf: (owner) => approvalClientOf(approvals, { name: owner, owners: [owner], throughClient: true }),
    servers,
  };

  const answering = async (): Promise<AnsweringServer> => {
    const { createHttpServer } = await import("../http/server/server.ts");
    return createHttpServer({
      ...api(),
      approvals,
      servers,
      hubStats: hub.stats,
      requestKeys: data.requestKeys,
      loops: loopsWhenUsed,
      conversations: conversationsWhenUsed,
      subAgent,
      ids,
      ask,
      mcp: ownMcp({
        ...parts,
        ...forMcp,
        gateway: options.gateway === true,
        watchEvents: (listener) => data.state.watch(listener),
        ...(planWatch && { onPlans: planWatch.listen }),
      }),
      tokens: await tokens(),
      clock,
      logger,
      version: parts.version,
      allowedHosts: listen?.allowedHosts ?? [],
      activeRuns: engine.activeRuns,
      isReady,
      storeHealth: data.health,
    });
  };

  return {
    loops,
    conversations,
    conversationsLeft: async () =>
      hasSubAgentRequests(data.place) || (await conversationsLeft(data.conversations, data.state)),
    subAgent,
    planWatch,
    answering,
    forMcp,
    forCommands: {
      conversations: conversationsWhenUsed,
      tokens: tokenAdmin,
      // The person who works on the data folder itself sees every approval in it.
      approvals: approvalClientOf(approvals, { name: FIRST_PRINCIPAL }),
    },
  };
}

type ServiceNeeds = {
  readonly data: OwnedData;
  readonly options: OpenOptions;
  readonly core: OwnedEngine;
  readonly firstToken: () => Promise<string>;
  /** False while sessions of an earlier process are still being resumed. */
  readonly isReady: () => boolean;
};
