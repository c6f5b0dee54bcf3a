import { type ErgonError, isErgonError } from "@ergon/core";
import { modelError } from "@ergon/core/schema";

export type ModelFailure = {
  readonly error: ErgonError;
  /** What the service asks for before the next try. */
  readonly retryAfterMs?: number;
  /** The service does not know the wish for a schema, it seems. */
  readonly mayBeTheSchema: boolean;
};

type ApiError = {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  readonly message: string;
};

const MAX_QUOTED = 300;

/** What a failed request means, whatever part of the SDK threw it. */
export function modelFailure(thrown: unknown, id: string, nowMs: number): ModelFailure {
  const own = causes(thrown).find(isErgonError);
  if (own !== undefined) return { error: own, mayBeTheSchema: false };
  const api = causes(thrown).find(isApiError);
  if (api === undefined) {
    const message = `${id} could not be asked: ${messageOf(thrown)}`;
    return {
      error: modelError("model_unavailable", message, { retryable: true, cause: thrown }),
      mayBeTheSchema: false,
    };
  }
  const { statusCode: status } = api;
  const retryAfterMs = retryAfter(api.responseHeaders ?? {}, nowMs);
  const after = retryAfterMs === undefined ? {} : { retryAfterMs };
  const options = { cause: thrown, details: { model: id, ...(status === undefined ? {} : { status }), ...after } };
  const quoted = (api.responseBody ?? "").replaceAll(/\s+/g, " ").slice(0, MAX_QUOTED);
  const said = quoted === "" ? "" : ` It said: ${quoted}`;
  if (status === 429) {
    const error = modelError("model_rate_limited", `${id} takes no more requests for now (429).${said}`, {
      ...options,
      retryable: true,
    });
    return { error, mayBeTheSchema: false, ...after };
  }
  if (status === undefined || status >= 500 || status === 408) {
    const message = `${id} is not available${status === undefined ? `: ${api.message}` : ` (${String(status)})`}.${said}`;
    return {
      error: modelError("model_unavailable", message, { ...options, retryable: true }),
      mayBeTheSchema: false,
      ...after,
    };
  }
  // A success whose body cannot be read.
  if (status < 400) {
    return {
      error: modelError("model_answer_invalid", `${id} answered what cannot be read.`, options),
      mayBeTheSchema: false,
    };
  }
  const hint = status === 401 || status === 403 ? " Check the key." : "";
  const error = modelError("model_refused", `${id} refused the request (${String(status)}).${hint}${said}`, options);
  return { error, mayBeTheSchema: status === 400 || status === 422 };
}

/** The error itself and what lies beneath; the SDK wraps what it retries. */
function causes(thrown: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let at = thrown; at instanceof Error && found.length < 8; at = at.cause) {
    found.push(at);
    if ("lastError" in at) found.push(at.lastError);
  }
  return found;
}

function isApiError(thrown: unknown): thrown is ApiError {
  return thrown instanceof Error && "responseHeaders" in thrown && "isRetryable" in thrown;
}

function retryAfter(headers: Readonly<Record<string, string>>, nowMs: number): number | undefined {
  const exact = Number.parseFloat(headers["retry-after-ms"] ?? "");
  if (Number.isFinite(exact) && exact >= 0) return exact;
  const given = headers["retry-after"];
  if (given === undefined) return undefined;
  const ms = /^\s*\d+(\.\d+)?\s*$/.test(given) ? Number(given) * 1_000 : Date.parse(given) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function messageOf(thrown: unknown): string {
  const [first] = causes(thrown).toReversed();
  return first instanceof Error ? first.message : String(thrown);
}
