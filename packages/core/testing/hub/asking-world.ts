import { callStep, createEngineWorld, planOf, type EngineWorld } from "../engine/engine-world.ts";
import { createMemoryApprovalStore } from "../../src/memory/approval-store.ts";
import { silentLogger } from "../../src/memory/logger.ts";
import { createEngine, type EmbeddedEngine } from "../../src/plans/engine/engine.ts";
import type { ApprovalStore } from "../../src/ports/approval-store.ts";
import type { Clock } from "../../src/ports/clock.ts";
import type { StateStore } from "../../src/ports/state-store.ts";
import type { Approval, ApprovalRule } from "../../src/schema/approval.ts";
import type { JsonObject } from "../../src/schema/values/json.ts";
import type { AgenticPlan } from "../../src/schema/plan.ts";
import type { Effects } from "../../src/schema/tool.ts";
import { createToolGate } from "../../src/tools/gate/gate.ts";
import {
  type AllowList,
  type ApprovalService,
  createApprovalService,
  type Disallow,
} from "../../src/approvals/approval-service.ts";
import { fingerprintOf } from "../../src/approvals/fingerprint.ts";
import type { ToolIdentity } from "../../src/schema/approval.ts";
import { createToolGrants } from "../../src/approvals/tool-grants.ts";
import { createToolPolicy } from "../../src/approvals/tool-policy.ts";
import { adaptMcpTool } from "../../src/tools/adapt/mcp-tool.ts";

export const OWNER = "me";
export const PERSON = { name: "ada" };

/** A real engine that asks a real desk about the tools of a server that tests can change. */
export type AskingWorld = Omit<EngineWorld, "engine"> & {
  readonly engine: EmbeddedEngine;
  readonly approvals: ApprovalService;
  readonly approvalStore: ApprovalStore;
  /** The arguments of every call that was made. */
  readonly calls: JsonObject[];
  readonly run: (plan: AgenticPlan, sessionId?: string) => Promise<Approval>;
  readonly pending: () => Promise<readonly Approval[]>;
  readonly status: (sessionId?: string) => Promise<string>;
  readonly eventTypes: () => Promise<readonly string[]>;
};

export type AskingOptions = {
  readonly store?: StateStore;
  readonly approvalStore?: ApprovalStore;
  readonly clock?: Clock;
  readonly rules?: readonly ApprovalRule[];
  readonly autoApprove?: boolean | readonly string[];
  readonly ttlMs?: number;
  readonly allowList?: AllowList;
  readonly disallow?: Disallow;
  readonly calls?: JsonObject[];
};

export const WRITE: ToolIdentity = {
  name: "write",
  description: "Writes a note.",
  inputSchema: { type: "object", properties: { text: { type: "string" } } },
  server: { command: "notes", version: "1" },
};

export function askingWorld(options: AskingOptions = {}): AskingWorld {
  const base = createEngineWorld(options.store === undefined ? {} : { store: options.store });
  const clock = options.clock ?? base.clock;
  const calls = options.calls ?? [];
  const approvalStore = options.approvalStore ?? createMemoryApprovalStore();
  const grants = createToolGrants();
  grants.keepIn(approvalStore);
  const { autoApprove } = options;
  const policy = createToolPolicy({
    grants,
    clock,
    settings: {
      server: (id) => ({ id, ...(autoApprove === undefined ? {} : { autoApprove: autoApprove as boolean }) }),
      rules: () => options.rules ?? [],
      approvalRequired: () => true,
    },
  });
  const parts = { ...base, clock, logger: silentLogger };
  const gate = createToolGate({ ...parts, policy });
  const { ttlMs, allowList, disallow } = options;
  const given = {
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(allowList === undefined ? {} : { allowList }),
    ...(disallow === undefined ? {} : { disallow }),
  };
  const approvals = createApprovalService({ ...parts, store: approvalStore, grants, ...given });
  const plans = { get: () => undefined, ids: () => [] };
  const engine = createEngine({ ...parts, gate, approvals, plans });
  approvals.start(engine.settleApproval);
  serverTool(base, WRITE, { calls });
  const pending = async () => (await approvals.list({ name: "x" }, { state: "pending", limit: 100 })).items;
  return {
    ...base,
    clock,
    gate,
    engine,
    approvals,
    approvalStore,
    calls,
    pending,
    run: async (plan, sessionId = "s") => {
      await engine.executePlan({ owner: OWNER, sessionId, plan, create: true });
      await engine.settled({ owner: OWNER, sessionId });
      const [asked] = await pending();
      if (asked === undefined) throw new Error("Nobody was asked.");
      return asked;
    },
    status: async (sessionId = "s") => (await engine.settled({ owner: OWNER, sessionId })).status,
    eventTypes: async () => (await base.store.readEvents({ afterSeq: 0, limit: 1_000 })).map(({ type }) => type),
    close: async () => {
      approvals.stop();
      await engine.close();
      await base.close();
    },
  };
}

/** Puts a server's tool into the registry, in place of one of that name. */
export function serverTool(
  { registry }: Pick<EngineWorld, "registry">,
  identity: ToolIdentity,
  { calls, effects = "once" }: { readonly calls: JsonObject[]; readonly effects?: Effects },
): void {
  const name = `notes_${identity.name}`;
  if (registry.has(name)) registry.unregister(name);
  const { description, inputSchema } = identity;
  const tool = adaptMcpTool(
    { name, description, serverId: "notes", serverName: "Notes", parameters: inputSchema },
    {
      effects,
      call: (args) => {
        calls.push(args as JsonObject);
        return { written: true };
      },
    },
  );
  const hub = { serverId: "notes", identity: identity as never, fingerprint: fingerprintOf(identity) };
  registry.register({ ...tool, hub });
}

export const writePlan = planOf("p", [callStep("a", "notes_write", { text: "hello" })]);
