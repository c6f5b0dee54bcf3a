import type { Clock, ToolRegistry } from "@ergon/core";
import { usageError } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import type { PureTool } from "@ergon/core/engine";
import { additionId, type SubAgentRequest, type SubAgentStatus } from "@ergon/core/hub";
import type { OwnedSubAgent } from "@ergon/node";

export type SubAgentToolsDeps = {
  readonly subAgent: Pick<OwnedSubAgent, "sendRequest" | "getStatus" | "cancelRequest" | "ownerOf">;
  readonly registry: Pick<ToolRegistry, "summaries">;
  readonly clock: Clock;
  /** Waits a little for servers that are starting. */
  readonly ready: () => Promise<unknown>;
};

/** Spec 5's four tools for the sub-agent. A model names a server; what is run for it is never the model's to say. */
export function subAgentTools({ subAgent, registry, clock, ready }: SubAgentToolsDeps): readonly PureTool[] {
  const addition: PureTool = {
    definition: SUB_AGENT_TOOL_DEFINITIONS.mcp_request_server_addition,
    implementation: async (args: Addition, { idempotencyKey, owner }) => {
      const { serverName, version, purpose, priority = "medium" } = args;
      const request: SubAgentRequest = {
        id: additionId(idempotencyKey),
        type: "add_server",
        params: {
          serverName,
          ...(version === undefined ? {} : { version }),
          ...(purpose === undefined ? {} : { purpose }),
        },
        timestamp: isoTime(clock),
        priority,
      };
      const requestId = await subAgent.sendRequest(request, owner);
      return { requestId, ...subAgent.getStatus(requestId) };
    },
  };
  const check: PureTool = {
    definition: SUB_AGENT_TOOL_DEFINITIONS.mcp_check_subagent_status,
    implementation: async ({ requestId }: { readonly requestId: string }, { owner }) => own(requestId, owner),
  };
  const cancel: PureTool = {
    definition: SUB_AGENT_TOOL_DEFINITIONS.mcp_cancel_subagent_work,
    implementation: async ({ requestId, reason }: Cancellation, { owner }) => {
      own(requestId, owner);
      return { cancelled: subAgent.cancelRequest(requestId, reason) };
    },
  };
  const list: PureTool = {
    definition: SUB_AGENT_TOOL_DEFINITIONS.mcp_list_available_tools,
    implementation: async () => {
      await ready();
      const tools = registry.summaries().filter(({ origin }) => origin === "hub");
      return { tools: tools.map(({ id, description }) => ({ name: id, description })) };
    },
  };
  return [addition, check, cancel, list];

  /** What another asked for is not there. */
  function own(requestId: string, owner: string): SubAgentStatus {
    const status = subAgent.ownerOf(requestId) === owner ? subAgent.getStatus(requestId) : undefined;
    if (status !== undefined) return status;
    throw usageError("input_invalid", `The sub-agent has no request "${requestId}".`);
  }
}

type Cancellation = { readonly requestId: string; readonly reason: string };

type Addition = {
  readonly serverName: string;
  readonly version?: string;
  readonly purpose?: string;
  readonly priority?: SubAgentRequest["priority"];
};

const TEXT = { type: "string", minLength: 1, maxLength: 1_000 } as const;
/** A planner is shown them only where a message speaks of them. */
const ON_REQUEST: string[] = ["on-request"];
/** One word: a sentence of a message is not taken for an id. */
const REQUEST_ID = { ...TEXT, pattern: "^\\S+$", description: "the id that the request was answered with" } as const;

/** As registries and MCP clients show them. */
export const SUB_AGENT_TOOL_DEFINITIONS = {
  mcp_request_server_addition: {
    id: "mcp_request_server_addition",
    tags: ON_REQUEST,
    effects: "idempotent",
    title: "Request an MCP server",
    description:
      "Asks the sub-agent to add an MCP server from the registry. It is checked, installed and tried in the background, and starts only when a person approves it. Answers at once with a requestId.",
    parameters: {
      type: "object",
      properties: {
        serverName: { ...TEXT, description: "its name in the registry, or a short name" },
        version: { ...TEXT, description: "the exact version; the latest when left out" },
        purpose: { ...TEXT, description: "what the server should do" },
        priority: { enum: ["low", "medium", "high"] },
      },
      required: ["serverName"],
      additionalProperties: false,
    },
  },
  mcp_check_subagent_status: {
    id: "mcp_check_subagent_status",
    tags: ON_REQUEST,
    effects: "read",
    title: "Check on the sub-agent",
    description: "Tells how far a request to the sub-agent is, and what came of it.",
    parameters: {
      type: "object",
      properties: { requestId: REQUEST_ID },
      required: ["requestId"],
      additionalProperties: false,
    },
  },
  mcp_cancel_subagent_work: {
    id: "mcp_cancel_subagent_work",
    tags: ON_REQUEST,
    effects: "idempotent",
    title: "Cancel work of the sub-agent",
    description: "Cancels a request to the sub-agent; what was installed for it is removed.",
    parameters: {
      type: "object",
      properties: { requestId: REQUEST_ID, reason: TEXT },
      required: ["requestId", "reason"],
      additionalProperties: false,
    },
  },
  mcp_list_available_tools: {
    id: "mcp_list_available_tools",
    tags: ON_REQUEST,
    effects: "read",
    title: "List MCP tools",
    description: "Lists every tool of the MCP servers that are connected now.",
    parameters: { type: "object", properties: {}, additionalProperties: false },
  },
} as const;
