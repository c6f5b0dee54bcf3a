import { ErgonError, type Sandbox } from "@ergon/core";
import { gateError, SANDBOX_LIMITS, sandboxError, SandboxProfile, SandboxResult } from "@ergon/core/schema";
import { z } from "zod";
import { nodeHttp, nodeHttps } from "../node-http.ts";
import { checkRequest } from "./check-request.ts";

/** stdout, stderr and a value, each of them at its bound and written in the longest way. */
const MAX_ANSWER_BYTES = 3 * 6 * SANDBOX_LIMITS.outputBytes + 64 * 1024;

export type SandboxTarget = { readonly url: string; readonly token: string };

type Call = {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly onPreparing?: (() => void) | undefined;
};

/** A sandbox service that another process runs. What it answers is checked like any answer from outside. */
export function createRemoteSandbox(target: SandboxTarget): Omit<Sandbox, "close"> {
  return {
    execute: async (request, { signal, onPreparing } = {}) => {
      const body = checkRequest(request);
      const answer = await call(target, { method: "POST", path: "execute", body, signal, onPreparing });
      return read(SandboxResult, answer);
    },
    profiles: async () => read(z.array(SandboxProfile), await call(target, { method: "GET", path: "profiles" })),
  };
}

const Refusal = z.object({
  code: z.string(),
  message: z.string(),
  retryable: z.boolean(),
  details: z.record(z.string(), z.unknown()).optional(),
});

function read<T>(schema: z.ZodType<T>, { status, body }: Answer): T {
  const parsed = schema.safeParse(body);
  if (status === 200 && parsed.success) return parsed.data;
  const refusal = Refusal.safeParse(body);
  if (status === 200 || !refusal.success) throw unavailable(`it answered ${status} with something else than a result`);
  const { code, message, retryable, details } = refusal.data;
  if (code === "unauthorized") throw unavailable("it does not know our token: check ERGON_SANDBOX_TOKEN");
  throw new ErgonError(code, message, { retryable, ...(details === undefined ? {} : { details }) });
}

type Answer = { readonly status: number; readonly body: unknown };

/** Without a time limit of its own: the service keeps that of the execution, and a lost connection ends the wait. */
function call({ url, token }: SandboxTarget, { method, path, body, signal, onPreparing }: Call): Promise<Answer> {
  const address = new URL(path, url.endsWith("/") ? url : `${url}/`);
  const { request } = address.protocol === "https:" ? nodeHttps() : nodeHttp();
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      if (signal?.aborted === true) reject(gateError("cancelled", "The execution was cancelled."));
      else reject(unavailable(cause instanceof Error ? cause.message : "the connection broke", { lost: true, cause }));
    };
    const sent = request(
      address,
      {
        method,
        // A connection of its own: its end tells the service that nobody waits any more.
        agent: false,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        ...(signal === undefined ? {} : { signal }),
      },
      (response) => {
        const parts: Buffer[] = [];
        let bytes = 0;
        response.on("data", (part: Buffer) => {
          bytes += part.length;
          parts.push(part);
          if (bytes > MAX_ANSWER_BYTES)
            response.destroy(new Error(`its answer is larger than ${MAX_ANSWER_BYTES} bytes`));
        });
        response.on("error", fail);
        response.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          resolve({ status: response.statusCode ?? 0, body: parsed(text) });
        });
      },
    );
    // 102: it is at it, and it will take a while.
    sent.on("information", ({ statusCode }) => {
      if (statusCode === 102) onPreparing?.();
    });
    sent.on("error", fail);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** What is no JSON is no answer that any schema takes. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `lost`: there was no answer at all. */
function unavailable(reason: string, { lost = false, cause }: { lost?: boolean; cause?: unknown } = {}): ErgonError {
  const message = `The sandbox service cannot be used: ${reason}.`;
  return sandboxError("sandbox_unavailable", message, { retryable: true, details: { lost }, cause });
}
