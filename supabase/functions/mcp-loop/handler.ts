import { isErgonError } from "@ergon/core";
import type { Attempt } from "@ergon/core/planner";
import { readBody } from "./limits.ts";

/** A run that takes longer is answered as one that did not finish. */
const MAX_RUN_MS = 25_000;
/** Turns that one instance of the function runs at a time; who comes then is asked to come again. */
export const MAX_RUNS_AT_ONCE = 20;
const RETRY_AFTER_SECONDS = 2;

/** One turn of the loop for one caller. Throws only for a request that cannot be read. */
export type Ask = (request: unknown, signal: AbortSignal) => Promise<Attempt>;

export type HandlerDeps = {
  /** The loop of whoever the token belongs to; undefined for a token that nobody has. */
  readonly admit: (token: string) => Promise<Ask | undefined>;
  /** Origins of pages that may ask from a browser; none by default. */
  readonly allowedOrigins: readonly string[];
  readonly maxRunMs?: number;
};

/** Spec 1's loop over HTTP: `MCPRequest` in, `MCPResponse` out. */
export function createHandler(deps: HandlerDeps): (request: Request) => Promise<Response> {
  const { admit, allowedOrigins, maxRunMs = MAX_RUN_MS } = deps;
  let running = 0;

  return async (request) => {
    const cors = corsHeaders(request, allowedOrigins);
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
    const answered = await answer(request);
    for (const [name, value] of Object.entries(cors)) answered.headers.set(name, value);
    return answered;
  };

  async function answer(request: Request): Promise<Response> {
    if (request.method !== "POST") return problem(405, "method_not_allowed", "Use POST.", { allow: "POST, OPTIONS" });
    const [, token] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token === undefined) return unauthorized("Send Authorization: Bearer and the signed-in person's token.");
    if (running >= MAX_RUNS_AT_ONCE) {
      const detail = `${String(MAX_RUNS_AT_ONCE)} turns are under way here already; ask again in a moment.`;
      return problem(503, "busy", detail, { "retry-after": String(RETRY_AFTER_SECONDS) });
    }
    running += 1;
    try {
      return await turn(request, token);
    } catch (thrown) {
      console.error(thrown);
      return problem(500, "internal", "Something went wrong; the function's log has more.");
    } finally {
      running -= 1;
    }
  }

  async function turn(request: Request, token: string): Promise<Response> {
    const body = await readBody(request);
    if (!body.ok) return problem(body.status, body.code, body.detail);
    const ask = await admit(token);
    if (ask === undefined) return unauthorized("This token belongs to nobody who is signed in, or it has expired.");
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(maxRunMs)]);
    try {
      const { response } = await ask(body.value, signal);
      return Response.json(response);
    } catch (thrown) {
      if (!isErgonError(thrown) || thrown.code !== "request_invalid") throw thrown;
      return problem(422, thrown.code, thrown.message, {}, thrown.details);
    }
  }
}

function unauthorized(detail: string): Response {
  return problem(401, "unauthorized", detail, { "www-authenticate": "Bearer" });
}

/** RFC 9457, as everywhere in Ergon. */
function problem(
  status: number,
  code: string,
  detail: string,
  headers: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): Response {
  const type = { "content-type": "application/problem+json" };
  return Response.json({ status, code, detail, ...more }, { status, headers: { ...type, ...headers } });
}

function corsHeaders(request: Request, allowed: readonly string[]): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null || !allowed.includes(origin)) return { vary: "origin" };
  return {
    vary: "origin",
    "access-control-allow-origin": origin,
    "access-control-allow-headers": "authorization, apikey, content-type, x-client-info, x-region",
    "access-control-allow-methods": "POST, OPTIONS",
    "access-control-max-age": "600",
  };
}
