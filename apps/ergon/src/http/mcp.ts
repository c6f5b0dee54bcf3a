import type { Clock, Logger } from "@ergon/core";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { McpEndpoint } from "../mcp/transport/http-endpoint.ts";
import type { McpHost } from "../mcp/host/mcp-host.ts";
import { closeIfOpened, lazy } from "../services/lazy.ts";
import type { RequestGuard } from "./server/request-guard.ts";
import { isUnexplained, problemOf } from "./server/problem.ts";
import { SECURITY_HEADERS } from "./server/security-headers.ts";

const MCP_PATH = "/mcp";

export type McpRouteParts = {
  readonly host: () => Promise<McpHost>;
  readonly door: RequestGuard;
  readonly clock: Clock;
  readonly logger: Logger;
};

export type McpRoute = { readonly close: () => Promise<void> };

/** MCP at `/mcp`. What the SDK answers goes out as it is; what is refused before it is a JSON-RPC error too. */
export function addMcp(app: FastifyInstance, { host, door, clock, logger }: McpRouteParts): McpRoute {
  const endpoint = lazy(async (): Promise<McpEndpoint> => {
    const [{ createMcpEndpoint }, made] = await Promise.all([import("../mcp/transport/http-endpoint.ts"), host()]);
    return createMcpEndpoint(made, clock);
  });

  app.route({
    method: ["GET", "POST", "DELETE"],
    url: MCP_PATH,
    exposeHeadRoute: false,
    config: { access: "agent" },
    errorHandler: (error, request, reply) => sendMcpProblem(error, request, reply, logger),
    handler: async (request, reply) => {
      const asker = door.asker(request, reply);
      const { handle } = await endpoint();
      if (request.method === "GET") asker.becomeStream();
      reply.hijack();
      const { raw } = reply;
      const headers = { ...SECURITY_HEADERS, "x-request-id": request.id };
      try {
        const gone = asker.dismissed();
        const { principal, owner } = asker;
        const mayApprove = principal.scope === "person" && !principal.local;
        await handle({ owner, mayApprove, body: request.body, request: request.raw, response: raw, headers, gone });
      } catch (error) {
        if (raw.headersSent) {
          logger.error({ requestId: request.id, error }, "An MCP answer broke.");
          raw.destroy();
        } else answerProblem(error, request, raw, logger);
      }
    },
  });

  return {
    close: async () => {
      await closeIfOpened(endpoint, ({ close }) => close());
    },
  };
}

function sendMcpProblem(thrown: unknown, request: FastifyRequest, reply: FastifyReply, logger: Logger): void {
  reply.hijack();
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
  answerProblem(thrown, request, reply.raw, logger);
}

function answerProblem(thrown: unknown, request: FastifyRequest, raw: FastifyReply["raw"], logger: Logger): void {
  const answer = problemOf(thrown, request.id);
  if (isUnexplained(answer)) logger.error({ requestId: request.id, error: thrown }, "An MCP request failed.");
  const { problem, headers } = answer;
  const error = { code: rpcCode(problem.status, problem.code), message: problem.detail, data: problem };
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error });
  raw.writeHead(problem.status, {
    ...SECURITY_HEADERS,
    ...headers,
    "x-request-id": request.id,
    "content-type": "application/json",
  });
  raw.end(body);
}

/** What JSON-RPC has a number for; the rest is the server's own. */
function rpcCode(status: number, code: string): number {
  if (code === "body_not_json") return -32_700;
  if (status === 500) return -32_603;
  return status === 422 ? -32_600 : -32_000;
}
