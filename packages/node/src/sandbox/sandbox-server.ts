import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ErgonError, isErgonError, type Logger, type Sandbox, toErgonError } from "@ergon/core";
import { accessError, SANDBOX_LIMITS, usageError } from "@ergon/core/schema";
import { hashSecret } from "../tokens/secret.ts";
import { nodeHttp } from "../node-http.ts";

/** JSON text in JSON text: what is allowed must fit. */
const MAX_BODY_BYTES = 4 * (SANDBOX_LIMITS.codeChars + SANDBOX_LIMITS.inputChars);
/** The head and the body of a request come within these, or never. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;

export type SandboxServer = {
  readonly url: string;
  /** Ends calls under way: their code is killed. */
  readonly close: () => Promise<void>;
};

export type SandboxServerOptions = {
  readonly sandbox: Sandbox;
  readonly token: string;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
};

/** The service's door: `POST /execute` and `GET /profiles`, both with the token. */
export async function serveSandbox(options: SandboxServerOptions): Promise<SandboxServer> {
  const { sandbox, token, host, port, logger } = options;
  const expected = hashSecret(token);
  const server = nodeHttp().createServer(
    { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS },
    (request, response) => {
      answer(request, response).catch((thrown: unknown) => {
        const error = isErgonError(thrown) ? thrown : toErgonError(thrown, "internal");
        if (!isErgonError(thrown)) logger.error({ error: error.toJSON() }, "A sandbox request failed.");
        refuse(response, error);
      });
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });

  return {
    url: addressOf(server.address() as AddressInfo),
    close: async () => {
      await sandbox.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page in somebody's browser has no business here, whatever it knows.
    if (request.headers.origin !== undefined) throw accessError("forbidden", "The sandbox does not answer browsers.");
    if (!isAllowed(request.headers.authorization)) {
      throw accessError("unauthorized", "The sandbox needs its token: Authorization: Bearer …");
    }
    switch (`${request.method ?? ""} ${request.url ?? ""}`) {
      case "GET /profiles":
        return send(response, 200, await sandbox.profiles());
      case "POST /execute": {
        const body = await readBody(request);
        const waits = { signal: untilGone(response), onPreparing: () => response.writeProcessing() };
        return send(response, 200, await sandbox.execute(body as never, waits));
      }
      default:
        throw usageError("input_invalid", "The sandbox answers POST /execute and GET /profiles.");
    }
  }

  function isAllowed(authorization: string | undefined): boolean {
    const [, given] = /^Bearer (\S+)$/.exec(authorization ?? "") ?? [];
    return given !== undefined && timingSafeEqual(hashSecret(given), expected);
  }
}

/** A caller that has gone waits for nothing: what runs for it is killed. */
function untilGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  return gone.signal;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MAX_BODY_BYTES) throw usageError("input_invalid", `The body is larger than ${MAX_BODY_BYTES} bytes.`);
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch (cause) {
    throw usageError("input_invalid", "The body is not JSON.", { cause });
  }
}

const STATUS: Readonly<Record<string, number>> = {
  input_invalid: 422,
  unauthorized: 401,
  forbidden: 403,
  sandbox_busy: 429,
  sandbox_profile_unavailable: 501,
  sandbox_unavailable: 503,
};

function refuse(response: ServerResponse, error: ErgonError): void {
  if (response.headersSent || response.destroyed) return;
  // What is left of a body that was refused is not read.
  response.setHeader("connection", "close");
  send(response, STATUS[error.code] ?? 500, error.toJSON());
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}

function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}
