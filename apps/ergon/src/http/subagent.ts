import { accessError, usageError } from "@ergon/core/schema";
import { isoTime } from "@ergon/core/store-kit";
import { hubError, SubAgentRequest, SubAgentStatus } from "@ergon/core/hub";
import { z } from "zod";
import type { HttpParts } from "./server/http-parts.ts";
import { route, type Route } from "./server/route.ts";

const Params = z.object({ id: z.string().min(1).max(200) });
const MAX_LISTED = 100;
const noRequest = ({ id = "" }: Readonly<Record<string, string>>): Error =>
  hubError("subagent_request_not_found", `The sub-agent has no request "${id}".`);

/** Its id, its time and its priority may be left to us. */
const Request = SubAgentRequest.partial({ id: true, timestamp: true, priority: true }).strict();

export function subAgentRoutes({
  subAgent,
  ids,
  clock,
}: Pick<HttpParts, "subAgent" | "ids" | "clock">): readonly Route[] {
  const own = (id: string, owner: string): SubAgentStatus => {
    const status = subAgent.ownerOf(id) === owner ? subAgent.getStatus(id) : undefined;
    if (status === undefined) throw noRequest({ id });
    return status;
  };
  return [
    route({
      method: "POST",
      path: "/subagent/requests",
      operationId: "requestSubAgent",
      summary: "Ask the sub-agent to add, remove, test, search or change MCP servers",
      access: "agent",
      body: Request,
      answers: { 202: { description: "It is queued", schema: z.object({ requestId: z.string() }) } },
      handle: async ({ body }, { owner, principal }) => {
        if ((body.type === "remove_server" || body.type === "modify_server") && principal.scope !== "person")
          throw accessError("forbidden", `${body.type} needs a token with scope person.`);
        const { id = ids.next("sub"), timestamp = isoTime(clock), priority = "medium", type, params } = body;
        const taken = subAgent.ownerOf(id);
        if (taken !== undefined && taken !== owner) throw usageError("input_invalid", `The id "${id}" cannot be used.`);
        const requestId = await subAgent.sendRequest({ id, type, params, timestamp, priority }, owner);
        return {
          status: 202,
          headers: { location: `/subagent/requests/${encodeURIComponent(requestId)}` },
          body: { requestId },
        };
      },
    }),
    route({
      method: "GET",
      path: "/subagent/requests",
      operationId: "listSubAgentRequests",
      summary: "Your requests to the sub-agent, newest first",
      access: "agent",
      answers: { 200: { description: "The newest", schema: z.object({ items: z.array(SubAgentStatus) }) } },
      handle: async (_, { owner }) => ({ status: 200, body: { items: subAgent.list(owner).slice(0, MAX_LISTED) } }),
    }),
    route({
      method: "GET",
      path: "/subagent/requests/:id",
      operationId: "readSubAgentRequest",
      summary: "How far a request is",
      access: "agent",
      params: Params,
      unknown: noRequest,
      answers: { 200: { description: "Its status", schema: SubAgentStatus } },
      handle: async ({ params }, { owner }) => ({ status: 200, body: own(params.id, owner) }),
    }),
    route({
      method: "DELETE",
      path: "/subagent/requests/:id",
      operationId: "cancelSubAgentRequest",
      summary: "Cancel a request; what was installed for it is removed",
      access: "agent",
      params: Params,
      unknown: noRequest,
      answers: { 200: { description: "Its status", schema: SubAgentStatus } },
      handle: async ({ params }, { owner }) => {
        const status = own(params.id, owner);
        subAgent.cancelRequest(params.id, `by ${owner}`);
        return { status: 200, body: subAgent.getStatus(params.id) ?? status };
      },
    }),
  ];
}
