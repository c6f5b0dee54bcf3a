import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type AgenticPlan,
  type Clock,
  type Logger,
  McpLoopRunner,
  silentLogger,
  type ToolRegistry,
  validatePlan,
} from "@ergon/core";
import { type ApprovalDecision, type Problem, PlanVerdict } from "@ergon/core/schema";
import {
  type BlobStore,
  createHashEmbedder,
  createLoopIds,
  createMemoryConversationStore,
  createMemoryLoopStore,
  createMemoryRequestKeys,
  type Ids,
} from "@ergon/core/store-kit";
import {
  type ApprovalService,
  createCostModel,
  createDryRun,
  createRefinementLoops,
  DEFAULT_LOOP_BOUNDS,
  type ToolGate,
} from "@ergon/core/engine";
import { createConversationService, type ConversationService } from "@ergon/core/conversation";
import type { EngineWorld } from "@ergon/core/testing";
import { openFileLoginStore, openTokenStore, type OwnedSubAgent, readSettings, type TokenStore } from "@ergon/node";
import { leadSubAgent } from "../hub/host-sub-agent.ts";
import { type Hub, openHub } from "../hub/open-hub.ts";
import { composeMcpHost } from "../mcp/host/compose-host.ts";
import type { ValidatePlan } from "../mcp/drive/with-owner.ts";
import type { HttpParts } from "./server/http-parts.ts";
import { type AnsweringServer, createHttpServer, type HttpServer } from "./server/server.ts";

/** A server on a real socket, around an engine that tests made. */
export type ServedWorld = {
  readonly engine: EngineWorld["engine"];
  readonly approvals: ApprovalService;
  readonly store: EngineWorld["store"];
  readonly blobs: Pick<BlobStore, "put" | "get">;
  readonly gate: ToolGate;
  readonly registry: ToolRegistry;
  readonly plans: readonly AgenticPlan[];
  readonly clock: Clock;
  readonly ids: Ids;
};

export const FIRST_TOKEN = "first-token-first-token-first-token-first";
export const LOCAL_TOKEN = "local-token-local-token-local-token-local";

export type Served = {
  readonly url: string;
  readonly server: HttpServer;
  readonly tokens: TokenStore;
  readonly folder: string;
  /** Asks with the first token unless told otherwise; `token: null` asks without one. */
  readonly ask: (method: string, path: string, options?: AskOptions) => Promise<Asked>;
  /** A further principal's token. */
  readonly tokenFor: (name: string, scope: "agent" | "person") => Promise<string>;
  readonly close: () => Promise<void>;
};

export type AskOptions = {
  readonly token?: string | null;
  readonly body?: unknown;
  /** Sent as it is. */
  readonly raw?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Asked = { readonly status: number; readonly headers: Headers; readonly text: string; readonly body: Body };
/** Tests say what they expect of it. */
type Body = Record<string, unknown> & Partial<Problem>;

export async function serve(
  world: ServedWorld,
  options: Partial<HttpParts> & { readonly logger?: Logger } = {},
  listener: (make: () => AnsweringServer) => HttpServer = (make) => make(),
): Promise<Served> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-http-"));
  const { clock } = world;
  const tokens = await openTokenStore({ dataFolder: folder, firstToken: FIRST_TOKEN, localToken: LOCAL_TOKEN, clock });
  const hub = await openHub({
    config: { path: join(folder, "mcp-servers.json"), isNamed: true },
    dataFolder: folder,
    place: { path: ":memory:" },
    isKept: false,
    logins: () => openFileLoginStore(folder),
    stays: true,
    environment: { XDG_STATE_HOME: join(folder, "state") },
    registry: world.registry,
    costs: createCostModel(),
    clock,
    logger: silentLogger,
    tell: () => undefined,
    onLearned: () => undefined,
    asking: { follow: () => undefined },
  });
  const subAgent = leadSubAgent({
    ...world,
    values: readSettings({ flags: { data: folder }, env: {}, cwd: folder }).values,
    entry: fileURLToPath(new URL("../cli.ts", import.meta.url)),
    place: { path: ":memory:" },
    servers: hub.desk,
    environment: {},
    isEnabled: () => true,
    tell: () => undefined,
    logger: silentLogger,
  });
  const conversationService = await conversationServiceOf(world, subAgent);
  await conversationService.start();
  const server = listener(() =>
    createHttpServer({ ...partsOf(world, tokens, { hub, conversationService, subAgent }), ...options }),
  );
  const url = await server.listen("127.0.0.1", 0);
  const ask: Served["ask"] = async (method, path, { token = FIRST_TOKEN, body, raw, headers } = {}) => {
    const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parsed(text) };
  };
  return {
    url,
    server,
    tokens,
    folder,
    ask,
    tokenFor: async (name, scope) => {
      const by = tokens.find(FIRST_TOKEN);
      if (by === undefined) throw new Error("The first token is not known.");
      return (await tokens.add({ name, scope, by })).token;
    },
    close: async () => {
      await server.close();
      await conversationService.stop();
      await subAgent.close();
      await hub.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function conversationServiceOf(
  { engine, store: state, registry, clock, ids }: ServedWorld,
  subAgent: OwnedSubAgent,
): Promise<ConversationService> {
  return createConversationService({
    store: createMemoryConversationStore(),
    state,
    engine,
    registry,
    models: [],
    embedder: createHashEmbedder(),
    clock,
    ids,
    logger: silentLogger,
    owner: "first",
    subAgent,
  });
}

function partsOf(
  world: ServedWorld,
  tokens: TokenStore,
  {
    hub,
    conversationService: { conversations },
    subAgent,
  }: { readonly hub: Hub; readonly conversationService: ConversationService; readonly subAgent: OwnedSubAgent },
): HttpParts {
  const { engine, approvals, store, gate, registry, plans, clock, ids } = world;
  const loops = createRefinementLoops({
    store: createMemoryLoopStore({ keepPerOwner: 10 }),
    clock,
    newId: createLoopIds(),
    bounds: DEFAULT_LOOP_BOUNDS,
  });
  const runner = new McpLoopRunner({ registry, clock, ids });
  const tools: HttpParts["tools"] = {
    allToolsReady: hub.allToolsReady,
    list: () => registry.summaries(),
    call: (request) => engine.callTool(request),
  };
  return {
    engine,
    outbox: {
      lastSeq: () => store.lastEventSeq(),
      read: (query) => store.readEvents(query),
    },
    tools,
    plans: {
      list: () => plans,
      get: (planId) => plans.find((plan) => plan.planId === planId),
      dryRun: createDryRun({
        gate,
        registry,
        clock,
        ids,
        plans: { get: (id) => plans.find(({ planId }) => planId === id), ids: () => plans.map(({ planId }) => planId) },
      }),
      validate: (plan, input) => validatePlan(plan, { registry, ...(input === undefined ? {} : { input }) }),
    },
    subAgent,
    ids,
    ask: (request, options) => runner.attempt(request, options),
    requestKeys: createMemoryRequestKeys(),
    loops,
    approvals,
    conversations,
    mcp: async () =>
      composeMcpHost({
        values: { serverName: "Loop Management Server", debug: false },
        version: "0.0.0",
        plans: {
          all: plans.map((plan) => ({ id: plan.planId, file: "", plan })),
          problems: [],
          get: (planId) => plans.find((plan) => plan.planId === planId),
          ids: () => plans.map(({ planId }) => planId),
        },
        ids,
        logger: silentLogger,
        reach: (_, work) => {
          const ask: Parameters<typeof work>[0]["ask"] = async ({ request, owner = "local", signal }) =>
            (await runner.attempt(request, { owner, signal })).response;
          const { allToolsReady } = hub;
          const known = async () => tools.list();
          const approvalsOf = (owner: string) => {
            const by = { name: owner, owners: [owner], throughClient: true };
            return {
              find: (id: string) => approvals.find(by, id),
              decide: (id: string, decision: ApprovalDecision) => approvals.decide(by, id, decision),
            };
          };
          const checkPlan: ValidatePlan = async ({ plan }) => PlanVerdict.parse(validatePlan(plan, { registry }));
          const parts = { tools: known, approvalsOf, servers: hub.desk };
          return work({ engine, loops, ask, allToolsReady, validatePlan: checkPlan, ...parts });
        },
      }),
    tokens,
    servers: hub.desk,
    hubStats: hub.stats,
    clock,
    logger: silentLogger,
    version: "0.0.0",
    allowedHosts: [],
    activeRuns: engine.activeRuns,
    isReady: () => true,
    storeHealth: () => undefined,
  };
}

function parsed(text: string): Body {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
}
