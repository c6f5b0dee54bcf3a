import { ErgonError, type ErrorOptions } from "./ergon-error.ts";

/** Every way in which the hub refuses, or a server lets a call down. */
const HUB_ERROR_CODES = [
  "server_name_invalid",
  "server_duplicate",
  "server_not_found",
  "server_config_invalid",
  "server_down",
  "server_busy",
  "server_refused",
  "answer_lost",
  "login_needed",
  "login_failed",
  "login_unreadable",
  "address_refused",
  "approval_not_found",
  "approval_decided",
  "approval_expired",
  "approval_withdrawn",
  "approvals_full",
  "grant_not_found",
  "grant_configured",
  "subagent_request_not_found",
  "registry_unavailable",
  "install_refused",
  "install_failed",
] as const;
export type HubErrorCode = (typeof HUB_ERROR_CODES)[number];

export function hubError(code: HubErrorCode, message: string, options?: ErrorOptions): ErgonError<HubErrorCode> {
  return new ErgonError(code, message, options);
}
