import { validatePlan } from "@ergon/core";
import { accessError } from "@ergon/core/schema";
import {
  type ApprovalService,
  createDryRun,
  type EmbeddedEngine,
  type Infrastructure,
  type Reader,
} from "@ergon/core/engine";
import { type ApprovalClient, type TokenStore, type TokenAdmin } from "@ergon/node";
import type { Models } from "../services/choose-models.ts";
import type { createHttpServer } from "../http/server/server.ts";
import type { OwnedData, WorkspaceParts } from "../workspace/workspace.ts";

/** What the server shows of the wired parts. */
export function httpServices(
  parts: WorkspaceParts & { readonly allToolsReady: () => Promise<void> },
  engine: EmbeddedEngine,
  data: OwnedData,
): Pick<Parameters<typeof createHttpServer>[0], "engine" | "outbox" | "tools" | "plans"> {
  const { gate, registry, plans, clock, ids } = parts;
  return {
    engine,
    outbox: { lastSeq: () => data.state.lastEventSeq(), read: (query) => data.state.readEvents(query) },
    tools: {
      allToolsReady: parts.allToolsReady,
      list: () => registry.summaries(),
      call: (request) => engine.callTool(request),
    },
    plans: {
      list: () => plans.all.map(({ plan }) => plan),
      get: plans.get,
      dryRun: createDryRun({ gate, registry, plans, clock, ids }),
      validate: (plan, input) => validatePlan(plan, { registry, ...(input === undefined ? {} : { input }) }),
    },
  };
}

/** What actions get beside their args and the context. */
export function infrastructureOf(
  { supabase }: OwnedData,
  { model, embedder }: Models,
): Omit<Infrastructure, "sessionId"> {
  return { supabase: supabase.client, embedder, ...(model === undefined ? {} : { model }) };
}

export function tokenAdminOf(tokens: TokenStore, localToken: string): TokenAdmin {
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

export function approvalClientOf(approvals: ApprovalService, by: Reader): ApprovalClient {
  return {
    list: (query) => approvals.list(by, query),
    find: (id) => approvals.find(by, id),
    decide: (id, decision) => approvals.decide(by, id, decision),
    grants: (query) => approvals.grants(query),
    revoke: (toolId) => approvals.revoke(toolId),
  };
}
