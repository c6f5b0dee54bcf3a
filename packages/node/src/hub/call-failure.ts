import { hubError, type ErgonError } from "@ergon/core";
import { ownError } from "./connect-server.ts";

type Where = { readonly serverId: string; readonly redact: (text: string) => string };

/** What became of a call that the SDK says has failed: refused, not sent, or nobody knows. */
export async function callFailure(thrown: unknown, { serverId, redact }: Where): Promise<ErgonError> {
  const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } = await import("@modelcontextprotocol/client");
  const own = ownError(thrown);
  if (own !== undefined) return own;
  const reason = redact(thrown instanceof Error ? thrown.message : "it did not say why");
  const options = { cause: thrown, details: { serverId } };
  if (thrown instanceof ProtocolError) return hubError("server_refused", reason, options);
  if (thrown instanceof SdkHttpError && (thrown.status ?? 0) >= 400 && (thrown.status ?? 0) < 500) {
    return hubError("server_refused", `The server "${serverId}" refused the call: ${reason}`, options);
  }
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.NotConnected) {
    return hubError("server_down", `The server "${serverId}" is not connected.`, { ...options, retryable: true });
  }
  const message = `The server "${serverId}" was asked and did not answer: ${reason}.`;
  return hubError("answer_lost", message, { ...options, retryable: true });
}
