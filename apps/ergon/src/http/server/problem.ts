import { ErgonError, type ErrorOptions, isErgonError } from "@ergon/core";
import type { Problem } from "@ergon/core/schema";
import { nodeHttp } from "@ergon/node";

/** What can be wrong with a request before anything behind the door sees it. */
export type HttpErrorCode =
  | "bad_request"
  | "body_not_json"
  | "route_not_found"
  | "method_not_allowed"
  | "body_too_large"
  | "media_type_unsupported"
  | "body_too_complex";

export function httpError(code: HttpErrorCode, message: string, options?: ErrorOptions): ErgonError<HttpErrorCode> {
  return new ErgonError(code, message, options);
}

/** The one table from codes to HTTP. A code that is not here is ours to explain, not the caller's: 500. */
const STATUS: Readonly<Record<string, number>> = {
  bad_request: 400,
  body_not_json: 400,

  unauthorized: 401,

  forbidden: 403,
  host_denied: 403,
  origin_denied: 403,
  role_denied: 403,
  approval_denied: 403,

  route_not_found: 404,
  session_not_found: 404,
  plan_not_found: 404,
  tool_not_found: 404,
  blob_not_found: 404,
  token_not_found: 404,
  loop_not_found: 404,
  server_not_found: 404,
  approval_not_found: 404,
  grant_not_found: 404,
  grant_configured: 409,
  subagent_request_not_found: 404,
  registry_unavailable: 503,
  install_refused: 422,
  install_failed: 502,
  conversation_not_found: 404,

  run_expired: 410,

  method_not_allowed: 405,

  session_busy: 409,
  session_conflict: 409,
  run_conflict: 409,
  session_ended: 409,
  session_exists: 409,
  plan_missing: 409,
  step_not_reached: 409,
  once_repeated: 409,
  wait_not_open: 409,
  wait_ambiguous: 409,
  approval_expired: 409,
  approval_decided: 409,
  approval_withdrawn: 409,
  tool_changed: 409,
  cancelled: 409,
  token_exists: 409,
  token_limit: 409,
  loop_already_exists: 409,
  server_duplicate: 409,
  conversation_ended: 409,

  body_too_large: 413,
  blob_too_large: 413,
  fork_too_large: 413,

  media_type_unsupported: 415,

  input_invalid: 422,
  request_invalid: 422,
  body_too_complex: 422,
  plan_invalid: 422,
  plan_refused: 422,
  plan_input_invalid: 422,
  resume_input_invalid: 422,
  step_not_found: 422,
  step_nested: 422,
  args_invalid: 422,
  context_missing: 422,
  loop_validation: 422,
  server_config_invalid: 422,
  server_name_invalid: 422,

  engine_busy: 429,
  rate_limited: 429,
  too_many_requests: 429,
  server_busy: 429,
  energy_exhausted: 429,
  approvals_full: 429,
  conversations_full: 429,

  not_available: 501,
  pack_missing: 501,

  tool_failed: 502,
  output_invalid: 502,
  outcome_unknown: 502,
  server_refused: 502,
  answer_lost: 502,

  engine_stopping: 503,
  store_unavailable: 503,
  store_corrupt: 503,
  store_newer: 503,
  ownership_lost: 503,
  store_closed: 503,
  loop_state: 503,
  folder_owned: 503,
  server_down: 503,

  tool_timeout: 504,
};

/** What a data tool refuses is its caller's to change, so its own code is told. */
const REFUSED_BY_TOOL: Readonly<Record<string, number>> = {
  path_refused: 403,
  file_not_found: 404,
  dataset_not_found: 404,
  file_changed: 409,
  file_too_large: 413,
  format_unknown: 422,
  dataset_unreadable: 422,
  dataset_too_wide: 422,
  column_not_found: 422,
  column_unfit: 422,
};

const DEFAULT_RETRY_AFTER_SECONDS = 1;
const UNEXPLAINED = "Something went wrong inside Ergon. Its log has more under this request id.";

export type ProblemAnswer = { readonly problem: Problem; readonly headers: Readonly<Record<string, string>> };

/** What a caller sees of an error. Of one that we did not foresee it sees the request id, and nothing else. */
export function problemOf(thrown: unknown, requestId: string): ProblemAnswer {
  const error = isErgonError(thrown) ? thrown : fromFramework(thrown);
  const refusal = error?.code === "tool_failed" ? String(error.details?.["code"]) : "";
  const code = Object.hasOwn(REFUSED_BY_TOOL, refusal) ? refusal : (error?.code ?? "");
  const status = REFUSED_BY_TOOL[code] ?? STATUS[code] ?? 500;
  if (error === undefined || status === 500) {
    const unexplained = { ...described("internal", 500, UNEXPLAINED), retryable: false, requestId };
    return { problem: unexplained, headers: {} };
  }
  const { issues, details } = splitIssues(error.details);
  const problem: Problem = {
    ...described(code, status, error.message),
    ...(issues === undefined ? {} : { issues }),
    retryable: error.retryable,
    ...(details === undefined ? {} : { details }),
    requestId,
  };
  return { problem, headers: headersFor(status, error) };
}

export function isUnexplained({ problem }: ProblemAnswer): boolean {
  return problem.status === 500;
}

function described(code: string, status: number, detail: string) {
  return { type: `urn:ergon:problem:${code}`, title: nodeHttp().STATUS_CODES[status] ?? "Error", status, code, detail };
}

/** Lists of findings have one place in an answer, whatever the family calls them. */
function splitIssues(details: ErgonError["details"]): Pick<Problem, "issues" | "details"> {
  if (details === undefined) return {};
  const { issues, problems, ...rest } = details;
  const found: unknown = issues ?? problems;
  const own = Object.keys(rest).length === 0 ? {} : { details: rest as Problem["details"] };
  return Array.isArray(found) ? { ...own, issues: found as Problem["issues"] } : own;
}

function headersFor(status: number, error: ErgonError): Record<string, string> {
  if (status === 401) return { "www-authenticate": 'Bearer realm="ergon"' };
  // What is left of such a body is not read.
  if (status === 413 && error.code === "body_too_large") return { connection: "close" };
  const allow = error.details?.["allow"];
  if (status === 405 && typeof allow === "string") return { allow };
  if (status !== 429 && status !== 503) return {};
  const seconds = Number(error.details?.["retryAfterSeconds"] ?? DEFAULT_RETRY_AFTER_SECONDS);
  return { "retry-after": String(Math.max(1, Math.ceil(seconds))) };
}

/** Fastify's own refusals carry a status; its sentences name its parts, so ours are said instead. */
function fromFramework(thrown: unknown): ErgonError | undefined {
  const status: unknown = thrown instanceof Error && "statusCode" in thrown ? thrown.statusCode : undefined;
  if (status === 413) return httpError("body_too_large", "The body is larger than allowed.");
  if (status === 415) return httpError("media_type_unsupported", "Send the body as Content-Type: application/json.");
  if (typeof status === "number" && status >= 400 && status < 500) {
    return httpError("bad_request", "The request is not well-formed.");
  }
  return undefined;
}
