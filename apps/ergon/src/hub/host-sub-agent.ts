/*
 * The sub-agent of a folder that we own. It is opened when somebody asks something of it, or when an earlier process left it
 * something to do; its own process starts with the first work.
 */
import {
  type AgenticPlan,
  type Clock,
  type Json,
  type JsonObject,
  type Logger,
  toErgonError,
  type ToolRegistry,
} from "@ergon/core";
import { type NewEvent, usageError } from "@ergon/core/schema";
import type { ApprovalService, EmbeddedEngine, PureTool } from "@ergon/core/engine";
import { conversationOf, hubError } from "@ergon/core/hub";
import {
  createSubAgentWorker,
  expandServer,
  FIRST_PRINCIPAL,
  isInstalledServer,
  hasSubAgentRequests,
  npmEnvironment,
  openServersFile,
  openSubAgent,
  openSubAgentRequests,
  type OwnedSubAgent,
  type ServerAdmin,
  serversFolder,
  type SettingValues,
  startsAsAsked,
  type StorePlace,
  type SubAgentHost,
} from "@ergon/node";
import { closeIfOpened, lazy } from "../services/lazy.ts";
import { subAgentTools } from "./sub-agent-tools.ts";

export type LeadSubAgentParts = {
  readonly values: SettingValues;
  /** Where its requests are kept. */
  readonly place: StorePlace;
  /** The program's own entry. */
  readonly entry: string;
  readonly servers: ServerAdmin;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly engine: EmbeddedEngine;
  readonly approvals: Pick<ApprovalService, "answered">;
  /** False when the configuration turns it off. */
  readonly isEnabled: () => boolean;
  readonly tell: (owner: string, events: readonly NewEvent[]) => void;
  readonly registry: ToolRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
};

const ENABLE_TOOL = "ergon::enable_server";

export function leadSubAgent(parts: LeadSubAgentParts): OwnedSubAgent {
  const { values, registry, clock, logger, environment } = parts;
  let live: OwnedSubAgent | undefined;
  let isStarted = false;
  let pausedHow: Parameters<OwnedSubAgent["pause"]>[0] | undefined;
  const listeners = new Set<() => void>();
  const open = lazy(async () => {
    const opened = await openSubAgent({
      requests: openSubAgentRequests(parts.place),
      worker: createSubAgentWorker({
        command: [process.execPath, parts.entry, "subagent", "--data", values.data, "--mcp-config", values.mcpConfig],
        env: {
          ...npmEnvironment(process.env),
          ...(environment["XDG_STATE_HOME"] === undefined ? {} : { XDG_STATE_HOME: environment["XDG_STATE_HOME"] }),
          ERGON_MCP_REGISTRY: values.mcpRegistry,
          ERGON_LOG: values.log,
        },
        logger,
      }),
      desk: deskFor(parts),
      clock,
      logger,
      owner: FIRST_PRINCIPAL,
      onProgress: (status, owner) => tell(status as unknown as JsonObject, owner),
    });
    opened.onNews(() => {
      for (const listener of listeners) listener();
    });
    if (pausedHow !== undefined) opened.pause(pausedHow);
    live = opened;
    if (isStarted) opened.start();
    return opened;
  });

  const late: OwnedSubAgent = {
    start: () => {
      isStarted = true;
      if (live !== undefined) live.start();
      else if (hasSubAgentRequests(parts.place) && parts.isEnabled()) open().catch(failed);
    },
    stop: async () => {
      isStarted = false;
      await closeIfOpened(open, (opened) => opened.stop());
    },
    pause: (how) => {
      pausedHow = how;
      live?.pause(how);
    },
    resume: () => {
      pausedHow = undefined;
      live?.resume();
    },
    sendRequest: async (request, owner) => {
      if (!parts.isEnabled())
        throw usageError(
          "not_available",
          `The sub-agent is turned off: "subAgentEnabled" is false in ${values.mcpConfig}.`,
        );
      return (await open()).sendRequest(request, owner);
    },
    getStatus: (requestId) => live?.getStatus(requestId),
    ownerOf: (requestId) => live?.ownerOf(requestId),
    list: (owner) => live?.list(owner) ?? [],
    asks: (serverId, about) => live?.asks(serverId, about) ?? false,
    cancelRequest: (requestId, reason) => live?.cancelRequest(requestId, reason) ?? false,
    pollMessages: () => live?.pollMessages() ?? [],
    getSubAgentEnergyConsumption: () => live?.getSubAgentEnergyConsumption() ?? 0,
    hasActiveWork: () => live?.hasActiveWork() ?? false,
    onNews: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: () => closeIfOpened(open, ({ close }) => close()),
  };
  for (const tool of subAgentTools({ subAgent: late, registry, clock, ready: () => parts.servers.list() })) {
    if (!registry.has(tool.definition.id)) registry.registerOwn(tool);
  }
  // Only the sub-agent's own plan calls it: a model or a planner that did would only make questions that lead nowhere.
  const enable = enableTool({ ...parts, isAsked: async (serverId, about) => (await open()).asks(serverId, about) });
  if (!registry.has(ENABLE_TOOL)) registry.registerOwn(enable, { isInternal: true });
  return late;

  function tell(status: JsonObject, owner: string): void {
    const events = [{ type: "subagent-progressed" as const, at: new Date(clock.now()).toISOString(), data: status }];
    parts.tell(owner, events);
  }

  function failed(thrown: unknown): void {
    logger.warn({ error: toErgonError(thrown, "internal").toJSON() }, "The sub-agent could not be heard.");
  }
}

/** Lets a server start that waits switched off. As it may destroy what a stranger's program can reach, a person is asked. */
function enableTool({
  servers,
  values,
  isAsked,
}: Pick<LeadSubAgentParts, "servers" | "values"> & {
  readonly isAsked: (serverId: string, about: Json) => Promise<boolean>;
}): PureTool {
  return {
    definition: {
      id: ENABLE_TOOL,
      title: "Let a server start",
      description:
        "Lets an installed MCP server start. Its program then runs on this machine, and its tools can be called.",
      parameters: {
        type: "object",
        properties: { serverId: { type: "string" }, about: {} },
        required: ["serverId"],
        additionalProperties: false,
      },
      effects: "idempotent",
      destructiveHint: true,
      alwaysAsk: true,
      tags: ["on-request"],
    },
    implementation: async ({ serverId, about = null }: { readonly serverId: string; readonly about?: Json }) => {
      // What the person read must be what the sub-agent found: anybody can make a call, nobody else an installation.
      if (!(await isAsked(serverId, about)))
        throw hubError("install_refused", `No installation of "${serverId}" waits for this approval.`);
      const entry = (await openServersFile(values.mcpConfig).read()).servers.find(({ id }) => id === serverId);
      if (entry === undefined || !startsAsAsked(entry, about)) {
        const message = `The entry of "${serverId}" in ${values.mcpConfig} is not what the person was asked about. It was not started; look at it, then: ergon servers approve ${serverId}`;
        throw hubError("install_refused", message, { details: { serverId } });
      }
      const { state } = await servers.change(serverId, { enabled: true });
      return { serverId, state };
    },
  };
}

/** The question is a call of a tool that needs a yes: a session of one step that waits, through restarts too. */
function deskFor({ values, servers, environment, engine, approvals, clock }: LeadSubAgentParts): SubAgentHost {
  const file = openServersFile(values.mcpConfig);
  const home = serversFolder(values.data);
  const list = async () => (await file.read()).servers;
  const sessionOf = (requestId: string): string => `call_${requestId}`;
  return {
    list,
    resolve: async (serverId) => {
      const server = (await list()).find(({ id }) => id === serverId);
      if (server === undefined) throw hubError("server_not_found", `The configuration has no server "${serverId}".`);
      const { config, secrets = [], problem } = expandServer(server, environment);
      const { items } = await servers.list();
      if (items.find(({ id }) => id === serverId)?.needsApproval === true) {
        const message = `"${serverId}" was found, not named by a person; it starts only after: ergon servers approve ${serverId}`;
        throw hubError("server_down", message, { details: { serverId } });
      }
      if (problem !== undefined) throw hubError("server_down", problem, { details: { serverId } });
      return { config, secrets };
    },
    add: async (config) => void (await servers.add({ ...config, enabled: false })),
    remove: (serverId) => servers.remove(serverId),
    change: async (serverId, field, value) => void (await servers.change(serverId, { [field]: value })),
    askToEnable: async ({ serverId, requestId, owner, about }) => {
      const sessionId = sessionOf(requestId);
      const input = { serverId, about };
      const conversationId = conversationOf(requestId);
      const forWhom = conversationId === undefined ? {} : { conversationId };
      const core = await engine
        .executePlan({ owner, sessionId, ...forWhom, create: true, isAwaited: true, plan: ENABLE_PLAN, input })
        .then(() => engine.settled({ owner, sessionId }))
        .catch(async (thrown: unknown) => {
          // Asked before, by a process that died since.
          const known = await engine.settled({ owner, sessionId }).catch(() => undefined);
          if (known === undefined) throw thrown;
          return known;
        });
      return core.waiting.find(({ approvalId }) => approvalId !== undefined)?.approvalId ?? sessionId;
    },
    answerTo: async ({ requestId, owner }, signal) => {
      const ref = { owner, sessionId: sessionOf(requestId) };
      for (;;) {
        const { status, waiting, lastError } = await engine.settled({ ...ref, signal });
        signal.throwIfAborted();
        const asked = waiting.find(({ approvalId }) => approvalId !== undefined)?.approvalId;
        if (status === "completed") return { approved: true };
        if (asked === undefined && status !== "running")
          return { approved: false, feedback: lastError?.message ?? status };
        if (asked !== undefined) await approvals.answered(asked, signal);
        // It has been answered, and the session has still to hear of it.
        await clock.sleep(RECHECK_MS, signal);
      }
    },
    withdraw: async ({ requestId, owner }) => {
      const ref = { owner, sessionId: sessionOf(requestId) };
      const asked = await engine.settled({ ...ref, timeoutMs: 0 }).catch(() => undefined);
      if (asked !== undefined && asked.waiting.length > 0) await engine.cancel(ref);
    },
    environment: () => Object.keys(environment).filter((name) => environment[name] !== undefined),
    isOwn: (config) => isInstalledServer(home, config),
  };
}

const RECHECK_MS = 200;

const ENABLE_PLAN: AgenticPlan = {
  planId: "enable-server",
  description: "Lets an installed server start, once a person says yes.",
  parameters: { type: "object", required: ["serverId"] },
  startStepId: "enable",
  steps: [
    {
      id: "enable",
      type: "tool_call",
      toolId: ENABLE_TOOL,
      arguments: { serverId: { jsonPath: "$.promptInput.serverId" }, about: { jsonPath: "$.promptInput.about" } },
      onError: "fail",
    },
  ],
};
