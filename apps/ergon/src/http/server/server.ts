/*
 * The HTTP server: Fastify carries the bytes, the route files say what is asked and answered.
 *
 * H1  Nothing behind the door is reached by a request with a wrong Host or Origin, without a known token, or with a
 *     body over its limits.
 * H2  Every refusal is a problem document with a code and a request id; what we did not foresee shows nothing else.
 * H3  After `close` nothing is left open: what waits is dismissed at once, what works has `graceMs`.
 */
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import type { JsonObject, Logger } from "@ergon/core";
import { fastify, type FastifyInstance, type FastifyRequest } from "fastify";
import { listeningAt } from "./addresses.ts";
import { createHostCheck } from "./allowed-hosts.ts";
import { approvalRoutes } from "../approvals.ts";
import { answerClientError, sendAnswer, sendProblem } from "./answers.ts";
import { blobRoutes } from "../blobs.ts";
import { capabilityRoutes } from "../capabilities.ts";
import { conversationRoutes } from "../conversations.ts";
import { createRequestGuard, type RequestGuard } from "./request-guard.ts";
import { createEventStreams } from "./event-streams.ts";
import { eventRoutes } from "../events.ts";
import { grantRoutes } from "../grants.ts";
import { healthRoutes } from "../health.ts";
import { type HttpParts, MAX_CONNECTIONS, REQUEST_TIMES } from "./http-parts.ts";
import { readJsonBody } from "./json-body.ts";
import { askRoutes } from "../planner-loop.ts";
import { loopRoutes } from "../refinement-loops.ts";
import { createKeyedRequests, IDEMPOTENCY_KEY, type KeyedRequests } from "./keyed-requests.ts";
import { createLimiter } from "./limits.ts";
import { addMcp } from "../mcp.ts";
import { createMetrics } from "../metrics.ts";
import { openApiRoute } from "../openapi.ts";
import { planRoutes } from "../plans.ts";
import { httpError } from "./problem.ts";
import type { Route } from "./route.ts";
import { serverRoutes } from "../servers.ts";
import { runRoutes } from "../runs.ts";
import { sessionRoutes } from "../sessions.ts";
import { subAgentRoutes } from "../subagent.ts";
import { tokenRoutes } from "../tokens.ts";
import { toolRoutes } from "../tools.ts";

export const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PARAM_LENGTH = 512;
const IDLE_CHECK_MS = 20;

export type HttpServer = {
  /** Port 0 picks a free one. Resolves with the address once requests are accepted. */
  readonly listen: (host: string, port: number) => Promise<string>;
  readonly close: (options?: { readonly graceMs?: number }) => Promise<void>;
};

export type AnsweringServer = HttpServer & {
  /** Goes on where another server has begun to listen, beginning with the connections that wait there. */
  readonly adopt: (listening: Server, waiting: Iterable<Socket>) => Promise<void>;
};

export function createHttpServer(parts: HttpParts): AnsweringServer {
  const draining = new AbortController();
  const streams = createEventStreams(parts.streamTimes);
  const limiter = createLimiter(parts.clock, parts.limits);
  const metrics = createMetrics({ activeRuns: parts.activeRuns, eventStreams: streams.count });
  const hosts = createHostCheck(parts.allowedHosts);
  const door = createRequestGuard({ ...parts, hosts, limiter, metrics, draining: draining.signal });
  const isDraining = (): boolean => draining.signal.aborted;
  const routes = [
    ...runRoutes(parts),
    ...sessionRoutes(parts),
    ...eventRoutes({ ...parts, streams }),
    ...planRoutes(parts.plans),
    ...toolRoutes(parts),
    ...capabilityRoutes(parts),
    ...blobRoutes(parts.engine),
    ...loopRoutes(parts.loops),
    ...conversationRoutes(parts.conversations),
    ...subAgentRoutes(parts),
    ...askRoutes(parts),
    ...approvalRoutes(parts),
    ...grantRoutes(parts),
    ...tokenRoutes(parts.tokens),
    ...serverRoutes(parts.servers),
    ...healthRoutes({ ...parts, streams, metrics, isDraining }),
  ];
  const keyed = createKeyedRequests({ ...parts, store: parts.requestKeys });
  const app = createApp(parts);
  app.addHook("onRequest", (request, reply, done) => {
    try {
      door.enter(request, reply);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  app.addContentTypeParser("application/json", (request: FastifyRequest, payload: IncomingMessage) =>
    readJsonBody(payload, door.bodyLimits(request)),
  );
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, parts.logger));
  app.setNotFoundHandler((request, reply) => sendProblem(unknownRoute(app, request), request, reply, parts.logger));
  for (const route of [...routes, openApiRoute(routes, parts.version)])
    addRoute(app, route, { askerOf: door.asker, keyed, logger: parts.logger });
  const silent = watchSilent(app);
  const mcp = addMcp(app, { host: parts.mcp, door, clock: parts.clock, logger: parts.logger });

  const listens = (): string => {
    app.server.maxConnections = parts.maxConnections ?? MAX_CONNECTIONS;
    const { host, url, isOne } = listeningAt(app.server);
    if (isOne) hosts.addAddress(host);
    return url;
  };

  return {
    listen: async (host, port) => {
      await app.listen({ host, port });
      return listens();
    },
    adopt: async (listening, waiting) => {
      await app.ready();
      app.server.listen(listening);
      await once(app.server, "listening");
      listens();
      for (const socket of waiting) {
        app.server.emit("connection", socket);
        socket.resume();
      }
    },
    close: async ({ graceMs = 0 } = {}) => {
      draining.abort();
      await mcp.close();
      const closed = app.close();
      for (const socket of silent) socket.destroy();
      // A connection is idle once its last answer is out; nobody tells when that is.
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
      const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },
  };
}

/** Connections that clients opened ahead and have said nothing on: not idle to Node, and nobody's loss. */
function watchSilent({ server }: FastifyInstance): ReadonlySet<Socket> {
  const silent = new Set<Socket>();
  server.on("connection", (socket) => {
    silent.add(socket);
    socket.once("close", () => void silent.delete(socket));
  });
  server.on("request", ({ socket }) => void silent.delete(socket));
  return silent;
}

function createApp({ requestTimes: times = REQUEST_TIMES, logger }: HttpParts): FastifyInstance {
  const process = randomBytes(6).toString("base64url");
  let requests = 0;
  const app = fastify({
    logger: false,
    genReqId: () => `${process}-${(requests += 1).toString(36)}`,
    requestTimeout: times.requestMs,
    keepAliveTimeout: times.idleMs,
    http: {
      headersTimeout: times.headersMs,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: Math.max(100, Math.min(times.headersMs / 2, 5_000)),
    },
    forceCloseConnections: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler: (error, socket) => answerClientError(error, socket),
    frameworkErrors: (error, request, reply) => void sendProblem(error, request, reply, logger),
    // Requests are checked by their Zod schemas; Fastify's own compilers would cost a third of the start.
    schemaController: { compilersFactory: { buildValidator: uncompiled, buildSerializer: uncompiled } },
  });
  app.removeAllContentTypeParsers();
  return app;
}

function uncompiled(): never {
  throw new Error("Routes have no schemas for Fastify to compile.");
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  {
    askerOf,
    keyed,
    logger,
  }: { readonly askerOf: RequestGuard["asker"]; readonly keyed: KeyedRequests; readonly logger: Logger },
): void {
  const isStream = Object.values(route.answers).some(({ mediaType }) => mediaType === "text/event-stream");
  app.route({
    method: route.method,
    url: route.path,
    exposeHeadRoute: route.method === "GET" && !isStream,
    config: { access: route.access },
    handler: async (request, reply) => {
      const { params, query, body, headers } = request;
      const input = { params, query, body };
      const asker = askerOf(request, reply);
      const key = route.isStart === true ? headers[IDEMPOTENCY_KEY.toLowerCase()] : undefined;
      if (key === undefined) return sendAnswer(await route.handle(input, asker), reply, logger);
      route.check(input);
      const asked = [route.method, route.path, (params ?? {}) as JsonObject, (body ?? {}) as JsonObject];
      const answer = await keyed({ owner: asker.owner, key: String(key), asked }, (start) =>
        // A client that lost the connection sends the request again, and waits for the first one.
        route.handle(input, { ...asker, start, left: () => NEVER }),
      );
      return sendAnswer(answer, reply, logger);
    },
  });
}

const NEVER = new AbortController().signal;

const METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"] as const;

function unknownRoute(app: FastifyInstance, { method, url }: { readonly method: string; readonly url: string }): Error {
  const [path = "/"] = url.split("?");
  const allow = METHODS.filter((known) => app.findRoute({ method: known, url: path }) !== null);
  if (allow.length === 0)
    return httpError("route_not_found", `There is nothing at this address. GET /openapi.json lists what there is.`);
  return httpError("method_not_allowed", `${method} is not possible here.`, { details: { allow: allow.join(", ") } });
}
