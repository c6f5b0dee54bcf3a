/*
 * The older era's Streamable HTTP, for one session, under the SDK's server. What answers a request goes out on that
 * request's own HTTP answer; what belongs to none, on the stream that the client opened with GET. The SDK's transport
 * puts web requests, responses and streams around every call, which cost more than the call (decision 0020).
 */
import type { OutgoingHttpHeaders } from "node:http";
import { isPlainMessage } from "@ergon/node";
import {
  isJsonContentType,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from "@modelcontextprotocol/server";
import { isOpening } from "../host/client-features.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import type { Exchange } from "./web-exchange.ts";

/** Messages in one body, by the revision that allowed more than one. */
export const MAX_BATCH = 100;

export type SessionTransport = Transport & {
  /** Answers one HTTP request of the session; false where it was refused. */
  readonly handle: (exchange: Exchange, body: unknown) => boolean;
};

/** The requests of one POST; each keeps its id until it is answered or cancelled, whoever is still there to hear it. */
type Answering = { readonly stream: EventStream; readonly isGone: () => boolean; left: number };

export function createSessionTransport(id: string, onDeleted: () => void): SessionTransport {
  const answering = new Map<RequestId, Answering>();
  let listening: EventStream | undefined;
  let versions: readonly string[] = [];
  let isOpened = false;
  let isClosed = false;

  const transport: SessionTransport = {
    handle: (exchange, body) => {
      const refusal = isClosed ? NOT_FOUND : take(exchange, body);
      if (refusal !== undefined) refuse(exchange, refusal);
      return refusal === undefined;
    },
    setSupportedProtocolVersions: (supported) => {
      versions = supported;
    },
    start: () => DONE,
    send: (message, options) => {
      if (!("method" in message)) {
        if (message.id !== undefined) answer(message.id, message);
        return DONE;
      }
      const related = options?.relatedRequestId;
      const one = related === undefined ? undefined : answering.get(related);
      // Nobody answers a question that nobody hears; what is only told is no loss.
      const isLost = related === undefined ? listening === undefined : one?.isGone() !== false;
      if (isLost && "id" in message) return Promise.reject(new Error("The client has gone, and cannot be asked."));
      (related === undefined ? listening : one?.stream)?.send(message);
      return DONE;
    },
    close: () => {
      if (isClosed) return DONE;
      isClosed = true;
      for (const { stream } of answering.values()) stream.end();
      answering.clear();
      listening?.end();
      transport.onclose?.();
      return DONE;
    },
  };
  return transport;

  function take(exchange: Exchange, body: unknown): Refusal | undefined {
    const { method } = exchange.request;
    if (method === "POST") return post(exchange, body);
    const refusal = outsideSession(exchange);
    if (refusal !== undefined) return refusal;
    return method === "GET" ? listen(exchange) : leave(exchange);
  }

  function post(exchange: Exchange, body: unknown): Refusal | undefined {
    const { accept = "", "content-type": type } = exchange.request.headers;
    if (!accept.includes("application/json") || !accept.includes("text/event-stream")) return NOT_ACCEPTABLE;
    if (!isJsonContentType(type ?? null)) return NOT_JSON;
    const messages = readMessages(body);
    if (!Array.isArray(messages)) return messages;
    if (messages.some(isOpening)) {
      if (isOpened) return ALREADY_OPENED;
      if (messages.length > 1) return OPENED_IN_COMPANY;
      isOpened = true;
      transport.sessionId = id;
    } else {
      const refusal = outsideSession(exchange);
      if (refusal !== undefined) return refusal;
    }
    const asked = messages.flatMap((message) => ("method" in message && "id" in message ? [message.id] : []));
    if (asked.some((request, at) => answering.has(request) || asked.indexOf(request) !== at)) return ID_IN_USE;
    if (asked.length > 0) openAnswer(exchange, asked);
    else exchange.response.writeHead(202, exchange.headers).end();
    for (const message of messages) {
      transport.onmessage?.(message);
      const cancelled = cancelledBy(message);
      // The SDK answers nothing to what was cancelled: its place on the answer is free.
      if (cancelled !== undefined) settle(cancelled, (stream, isLast) => isLast && stream.end());
    }
    return undefined;
  }

  function openAnswer({ response, headers, gone }: Exchange, asked: readonly RequestId[]): void {
    const stream = openEventStream(response, inSession(headers), gone);
    const one: Answering = { stream, isGone: () => response.closed, left: asked.length };
    for (const request of asked) answering.set(request, one);
  }

  function answer(request: RequestId, message: JSONRPCMessage): void {
    const isHeard = settle(request, (stream, isLast) => (isLast ? stream.end(message) : stream.send(message)));
    if (!isHeard) transport.onerror?.(new Error(`Nobody waits for the answer to request ${String(request)} any more.`));
  }

  /** Nothing more is to come for this request; false where nobody waited for it. */
  function settle(request: RequestId, say: (stream: EventStream, isLast: boolean) => unknown): boolean {
    const one = answering.get(request);
    if (one === undefined) return false;
    answering.delete(request);
    one.left -= 1;
    say(one.stream, one.left === 0);
    return !one.isGone();
  }

  function listen({ request, response, headers, gone }: Exchange): Refusal | undefined {
    if (request.headers.accept?.includes("text/event-stream") !== true) return NO_STREAM_WANTED;
    if (listening !== undefined) return ALREADY_LISTENING;
    const stream = openEventStream(response, inSession(headers), gone);
    listening = stream;
    response.once("close", () => {
      if (listening === stream) listening = undefined;
    });
    stream.begin();
    return undefined;
  }

  function leave({ response, headers }: Exchange): undefined {
    onDeleted();
    response.writeHead(200, headers).end();
    void transport.close();
  }

  function outsideSession({ request }: Exchange): Refusal | undefined {
    if (!isOpened) return NOT_OPENED;
    const version = request.headers["mcp-protocol-version"];
    if (version === undefined || versions.includes(String(version))) return undefined;
    const message = `Bad Request: Unsupported protocol version: ${String(version)} (supported versions: ${versions.join(", ")})`;
    return { status: 400, code: -32_000, message };
  }

  function inSession(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    return { ...headers, "mcp-session-id": id };
  }
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!("method" in message) || message.method !== "notifications/cancelled") return undefined;
  const id: unknown = message.params?.["requestId"];
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

function readMessages(body: unknown): JSONRPCMessage[] | Refusal {
  const values: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (values.length > MAX_BATCH) return TOO_MANY;
  try {
    return values.map((value) => (isPlainMessage(value) ? value : parseJSONRPCMessage(value)));
  } catch {
    return NO_MESSAGE;
  }
}

export type Refusal = { readonly status: number; readonly code: number; readonly message: string };

export function refuse({ response, headers }: Exchange, { status, code, message }: Refusal): void {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, "content-type": "application/json", "content-length": length }).end(body);
}

const bad = (message: string): Refusal => ({ status: 400, code: -32_600, message: `Invalid Request: ${message}` });
const notAcceptable = (what: string): Refusal => ({
  status: 406,
  code: -32_000,
  message: `Not Acceptable: Client must accept ${what}`,
});
const NOT_ACCEPTABLE = notAcceptable("both application/json and text/event-stream");
const NO_STREAM_WANTED = notAcceptable("text/event-stream");
const NOT_JSON: Refusal = {
  status: 415,
  code: -32_000,
  message: "Unsupported Media Type: Content-Type must be application/json",
};
const NO_MESSAGE: Refusal = { status: 400, code: -32_700, message: "Parse error: Invalid JSON-RPC message" };
const TOO_MANY = bad(`Batch must not exceed ${String(MAX_BATCH)} messages`);
const ALREADY_OPENED = bad("Server already initialized");
const OPENED_IN_COMPANY = bad("Only one initialization request is allowed");
const ID_IN_USE = bad("A request with this id is still being answered");
const NOT_OPENED: Refusal = { status: 400, code: -32_000, message: "Bad Request: Server not initialized" };
const ALREADY_LISTENING: Refusal = {
  status: 409,
  code: -32_000,
  message: "Conflict: Only one SSE stream is allowed per session",
};
export const NOT_FOUND: Refusal = { status: 404, code: -32_001, message: "Session not found" };

const DONE = Promise.resolve();
