import { ErgonError } from "@ergon/core";
import { Problem, storeError } from "@ergon/core/schema";
import { NOT_TAKEN, patientFetch } from "../patient-fetch.ts";

export type RemoteTarget = {
  readonly url: string;
  readonly token: string;
  /** A server that was named, not the owner of a data folder that another process may follow: a refusal is its answer. */
  readonly isNamed?: true;
};

export type RemoteRequest = {
  readonly owner: string;
  readonly method?: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
};

/** Asks the owner of the data folder. Throws what it refuses as if it had been thrown here, or `owner_gone`. */
export async function callRemote(target: RemoteTarget, request: RemoteRequest): Promise<Response> {
  const { method = "GET", owner, headers, body, signal } = request;
  // A command lasts for as long as the work that the owner does for it.
  const ask = (): Promise<Response> =>
    patientFetch(addressOf(target, request), {
      method,
      headers: {
        authorization: `Bearer ${target.token}`,
        ...(target.isNamed ? {} : { "ergon-owner": encodeURIComponent(owner) }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal,
      // An owner that ends may accept a connection and never read from it: such a request goes to the next owner.
      asksFirst: true,
    });
  const response = await guarded(signal, () => (method === "GET" ? readTwice(ask) : ask()));
  if (response.ok) return response;
  throw await refusalOf(target, response);
}

/** What only reads is asked for again when its connection breaks: an owner that is gone refuses it then. */
async function readTwice(ask: () => Promise<Response>): Promise<Response> {
  try {
    return await ask();
  } catch (thrown) {
    if (codeOf(thrown) !== "ECONNRESET") throw thrown;
    return ask();
  }
}

export async function readJson(response: Response, signal?: AbortSignal): Promise<unknown> {
  const body: unknown = await guarded(signal, () => response.json());
  return body;
}

/** A connection that breaks says that the owner is gone; an abort of our own passes as it is. */
export async function guarded<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (signal?.aborted === true) throw thrown;
    throw ownerGone("The process that owns the data folder is gone.", { sent: !wasRefused(thrown), cause: thrown });
  }
}

/** `sent`: it may have done what it was asked, and could not say so. */
export function ownerGone(
  message: string,
  { sent, cause }: { readonly sent: boolean; readonly cause?: unknown },
): ErgonError {
  return storeError("owner_gone", message, { retryable: true, details: { sent }, cause });
}

function addressOf({ url }: RemoteTarget, { path, query = {} }: RemoteRequest): URL {
  const address = new URL(path, url);
  for (const [name, value] of Object.entries(query)) if (value !== undefined) address.searchParams.set(name, value);
  return address;
}

async function refusalOf({ url, isNamed }: RemoteTarget, response: Response): Promise<ErgonError> {
  const text = await guarded(undefined, () => response.text());
  const problem = problemIn(text);
  if (isNamed) return problem === undefined ? notErgon(url, response) : errorOf(problem);
  if (problem === undefined || problem.code === "unauthorized") {
    return ownerGone("Another process answers where the owner of the data folder was.", { sent: false });
  }
  if (problem.code === "engine_stopping") {
    return ownerGone("The process that owns the data folder is shutting down.", { sent: false });
  }
  return errorOf(problem);
}

function notErgon(url: string, { status }: Response): ErgonError {
  const message = `What answers at ${url} is not an Ergon server (status ${String(status)}). Check the address.`;
  return new ErgonError("not_ergon", message, { details: { url, status } });
}

function problemIn(text: string): Problem | undefined {
  try {
    return Problem.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** The names under which families keep their findings; on the wire there is one. */
function errorOf({ code, detail, retryable = false, issues, details, requestId }: Problem): ErgonError {
  const found = issues === undefined ? {} : { [code === "plan_invalid" ? "problems" : "issues"]: issues };
  const request = code === "internal" ? { requestId } : {};
  const all = { ...details, ...found, ...request };
  return new ErgonError(code, detail, { retryable, ...(Object.keys(all).length === 0 ? {} : { details: all }) });
}

function wasRefused(thrown: unknown): boolean {
  return ["ECONNREFUSED", "ENOENT", NOT_TAKEN].includes(codeOf(thrown));
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}
