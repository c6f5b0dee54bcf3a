import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { accessError, engineStopping } from "@ergon/core/schema";
import type { Principal } from "@ergon/node";
import type { FastifyReply, FastifyRequest } from "fastify";
import { checkOneHost, type HostCheck } from "./allowed-hosts.ts";
import { authenticate, authorize, ownerOf } from "./auth.ts";
import type { HttpParts } from "./http-parts.ts";
import { BODY_LIMITS, type BodyLimits, LOCAL_BODY_LIMITS } from "./json-body.ts";
import type { Limiter } from "./limits.ts";
import type { Metrics } from "../metrics.ts";
import { preferredWaitMs } from "./prefer.ts";
import type { Access, RequestContext } from "./route.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    access?: Access;
  }
}

type RequestGuardParts = Pick<HttpParts, "tokens" | "clock" | "logger"> & {
  readonly hosts: HostCheck;
  readonly limiter: Limiter;
  readonly metrics: Metrics;
  readonly draining: AbortSignal;
};

export type RequestGuard = {
  /** Lets a request in, or throws why not. */
  readonly enter: (request: FastifyRequest, reply: FastifyReply) => void;
  readonly bodyLimits: (request: FastifyRequest) => BodyLimits;
  readonly asker: (request: FastifyRequest, reply: FastifyReply) => RequestContext;
};

type AuthenticatedRequest = {
  readonly principal: Principal;
  readonly owner: string;
  /** Gives back what it takes of the principal's limits; undefined once it has. */
  leave: (() => void) | undefined;
};

const NOBODY: Principal = {
  name: "",
  scope: "agent",
  admin: false,
  local: false,
  revoked: new AbortController().signal,
};

/** What every request passes on its way in, in this order: host, origin, token, scope, rate. */
export function createRequestGuard({
  hosts,
  tokens,
  clock,
  logger,
  limiter,
  metrics,
  draining,
}: RequestGuardParts): RequestGuard {
  const admitted = new WeakMap<FastifyRequest, AuthenticatedRequest>();
  // Who sent the same header on the same connection before: only its own sender can find it here.
  const callers = new WeakMap<Socket, { readonly authorization: string | undefined; readonly principal: Principal }>();

  const admit = (request: FastifyRequest, access: Access): AuthenticatedRequest => {
    checkOneHost(request.raw);
    hosts.check(request.headers);
    if (access === "open") return { principal: NOBODY, owner: "", leave: undefined };
    const principal = identify(request);
    if (draining.aborted) throw engineStopping();
    authorize(principal, access);
    const owner = ownerOf(principal, request.headers["ergon-owner"]);
    return { principal, owner, leave: limiter.enter(principal) };
  };

  const identify = (request: FastifyRequest): Principal => {
    const { authorization } = request.headers;
    const last = callers.get(request.raw.socket);
    if (last !== undefined && last.authorization === authorization && !last.principal.revoked.aborted) {
      return last.principal;
    }
    try {
      const principal = authenticate(authorization, tokens);
      callers.set(request.raw.socket, { authorization, principal });
      return principal;
    } catch (error) {
      limiter.failedAuth(request.ip);
      throw error;
    }
  };

  const authenticated = (request: FastifyRequest): AuthenticatedRequest => {
    const guest = admitted.get(request);
    if (guest === undefined) throw accessError("unauthorized", "The request did not come through the door.");
    return guest;
  };

  return {
    enter: (request, reply) => {
      const startedMs = clock.monotonic();
      reply.headers(SECURITY_HEADERS).header("x-request-id", request.id);
      reply.raw.once("close", () => {
        const guest = admitted.get(request);
        guest?.leave?.();
        if (guest !== undefined) guest.leave = undefined;
        report(request, reply.raw, clock.monotonic() - startedMs);
      });
      admitted.set(request, admit(request, request.routeOptions.config?.access ?? "agent"));
    },
    bodyLimits: (request) => (authenticated(request).principal.local ? LOCAL_BODY_LIMITS : BODY_LIMITS),
    asker: (request, reply) => {
      const { headers, id } = request;
      const guest = authenticated(request);
      const { principal, owner } = guest;
      const lastEventId = headers["last-event-id"];
      return {
        principal,
        owner,
        requestId: id,
        logger,
        waitMs: preferredWaitMs(headers["prefer"]),
        ifNoneMatch: headers["if-none-match"],
        lastEventId: typeof lastEventId === "string" ? lastEventId : undefined,
        becomeStream: () => {
          // Whoever has gone already takes nothing up any more.
          if (guest.leave === undefined) return;
          const leaveStream = limiter.enterStream(principal);
          guest.leave();
          guest.leave = leaveStream;
        },
        left: () => signalOf(reply.raw, []),
        dismissed: () => signalOf(reply.raw, [draining, principal.revoked]),
      };
    },
  };

  function report(request: FastifyRequest, { statusCode }: ServerResponse, durationMs: number): void {
    const { method } = request;
    const route = request.routeOptions.url ?? "unknown";
    metrics.request({ method, route, status: statusCode, durationMs });
    const sessionId = sessionOf(request);
    const fields = {
      requestId: request.id,
      method,
      route,
      status: statusCode,
      durationMs: Math.round(durationMs * 10) / 10,
      principal: admitted.get(request)?.owner,
      ...(sessionId === undefined ? {} : { sessionId }),
    };
    logger.info(fields, "A request was answered.");
  }
}

/** Aborts with the response's end, or with one of the others; listens no longer than that. */
function signalOf(response: ServerResponse, others: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (response.closed) abort();
  response.once("close", abort);
  for (const other of others) {
    if (other.aborted) abort();
    other.addEventListener("abort", abort, { signal: controller.signal });
  }
  return controller.signal;
}

function sessionOf({ routeOptions, params }: FastifyRequest): string | undefined {
  if (routeOptions.url?.startsWith("/sessions/:id") !== true) return undefined;
  return (params as { readonly id?: string }).id;
}
