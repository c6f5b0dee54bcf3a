import type { Duplex } from "node:stream";
import type { Logger } from "@ergon/core";
import { nodeHttp } from "@ergon/node";
import type { FastifyReply, FastifyRequest } from "fastify";
import { httpError, isUnexplained, problemOf } from "./problem.ts";
import type { Answer } from "./route.ts";
import { SECURITY_HEADERS } from "./security-headers.ts";

const JSON_TYPE = "application/json; charset=utf-8";

export function sendAnswer(answer: Answer, reply: FastifyReply, logger: Logger): FastifyReply {
  reply.code(answer.status);
  if (answer.headers !== undefined) reply.headers(answer.headers);
  if ("body" in answer) return reply.send(answer.body);
  if ("json" in answer) return reply.header("content-type", JSON_TYPE).send(answer.json);
  if ("bytes" in answer) {
    const { buffer, byteOffset, byteLength } = answer.bytes;
    return reply.header("content-type", answer.mediaType).send(Buffer.from(buffer, byteOffset, byteLength));
  }
  reply.hijack();
  answer.stream(reply.raw).catch((error: unknown) => {
    logger.error({ requestId: reply.request.id, error }, "A stream broke.");
    reply.raw.destroy();
  });
  return reply;
}

export function sendProblem(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  logger: Logger,
): FastifyReply {
  const answer = problemOf(thrown, request.id);
  if (isUnexplained(answer)) {
    logger.error(
      { requestId: request.id, method: request.method, route: request.routeOptions.url, error: thrown },
      "A request failed.",
    );
  }
  const { problem, headers } = answer;
  return reply
    .code(problem.status)
    .headers({
      ...SECURITY_HEADERS,
      ...headers,
      "x-request-id": request.id,
      "content-type": "application/problem+json",
    })
    .send(Buffer.from(JSON.stringify(problem)));
}

/** What the HTTP parser or a time-out refused: there is a socket, but no request yet. */
export function answerClientError(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
  const why =
    status === 408 ? "The request took too long." : status === 431 ? "The headers are too large." : "This is not HTTP.";
  const { problem } = problemOf(httpError("bad_request", why), "none");
  const { requestId: _none, ...rest } = problem;
  const title = nodeHttp().STATUS_CODES[status];
  const body = JSON.stringify({ ...rest, status, title });
  const head = {
    ...SECURITY_HEADERS,
    "content-type": "application/problem+json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join("")}\r\n${body}`);
}
