import { once } from "node:events";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

/**
 * One HTTP exchange in the form of web standards, which the SDK speaks. The body is not in it: it was read and checked
 * at the door, and goes its own way as what it was parsed to.
 */
export async function exchange(
  { request, response, headers: given, gone }: Exchange,
  serve: (request: Request) => Promise<Response>,
): Promise<void> {
  // A write that meets a closing connection; `gone` is what tells.
  response.on("error", () => undefined);
  const answer = await serve(webRequest(request, gone));
  if (response.writableEnded || response.destroyed) return;
  const headers = { ...given, ...Object.fromEntries(answer.headers) };
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (answer.body !== null && isStream) {
    response.writeHead(answer.status, headers);
    await pump(answer.body, response, gone);
    return;
  }
  const body = Buffer.from(await answer.arrayBuffer());
  response.writeHead(answer.status, { ...headers, "content-length": body.byteLength }).end(body);
}

export type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** What every answer of ours says. */
  readonly headers: OutgoingHttpHeaders;
  /** Aborts when nobody waits for the answer any more, or nobody may. */
  readonly gone: AbortSignal;
};

function webRequest({ method = "GET", url = "/", headers, rawHeaders }: IncomingMessage, signal: AbortSignal): Request {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) pairs.push([rawHeaders[at] ?? "", rawHeaders[at + 1] ?? ""]);
  return new Request(`http://${headers.host ?? "localhost"}${url}`, { method, headers: pairs, signal });
}

async function pump(body: ReadableStream<Uint8Array>, response: ServerResponse, gone: AbortSignal): Promise<void> {
  // What comes in one turn of the event loop goes out in one write, headers and end included; what comes later, then.
  let flushing: NodeJS.Immediate | undefined;
  const corked = (): void => {
    const { socket } = response;
    if (flushing !== undefined || socket === null) return;
    socket.cork();
    flushing = setImmediate(() => {
      flushing = undefined;
      socket.uncork();
    });
  };
  corked();
  response.flushHeaders();
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => undefined);
  gone.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || gone.aborted) break;
      corked();
      if (!response.write(value)) await once(response, "drain", { signal: gone });
    }
  } catch (error) {
    if (!gone.aborted) throw error;
  } finally {
    gone.removeEventListener("abort", stop);
    response.end();
  }
}
