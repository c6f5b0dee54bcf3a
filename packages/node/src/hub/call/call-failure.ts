import type { ErgonError } from "@ergon/core";
import { hubError } from "@ergon/core/hub";
import { ownError, type ServerLink } from "../connection/connect-server.ts";

type Where = {
  readonly serverId: string;
  readonly redact: (text: string) => string;
  readonly link: Pick<ServerLink, "hasSession" | "whyClosed">;
};

export type CallFailure = {
  readonly error: ErgonError;
  /** What has to be made anew before anything else can be sent; nothing was done. */
  readonly lost?: Loss;
};

/** A session that the server does not know any more, or the server itself, which nobody could reach. */
export type Loss = "session" | "server";

/** What became of a call that the SDK says has failed: refused, not sent, or nobody knows. */
export async function callFailure(thrown: unknown, { serverId, redact, link }: Where): Promise<CallFailure> {
  const { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } = await import("@modelcontextprotocol/client");
  const options = { cause: thrown, details: { serverId } };
  const down = (why: string): ErgonError =>
    hubError("server_down", `The server "${serverId}" ${why}`, { ...options, retryable: true });
  const own = ownError(thrown);
  if (own?.code === "server_down") return { error: down(`is not there: ${redact(own.message)}`), lost: "server" };
  if (own !== undefined) return { error: own };
  const isClosed = thrown instanceof SdkError && thrown.code === SdkErrorCode.ConnectionClosed;
  const said = thrown instanceof Error ? thrown.message : "it did not say why";
  const reason = redact(isClosed ? link.whyClosed() : said);
  if (thrown instanceof ProtocolError) return { error: hubError("server_refused", reason, options) };
  if (thrown instanceof SdkHttpError) {
    const { status } = thrown;
    const isSession = status === 404 || (status === 400 && UNKNOWN_SESSION.test(said));
    if (link.hasSession() && isSession) return { error: down("no longer knows our session."), lost: "session" };
    if (status >= 400 && status < 500) {
      return { error: hubError("server_refused", `The server "${serverId}" refused the call: ${reason}`, options) };
    }
  }
  if (thrown instanceof SdkError && thrown.code === SdkErrorCode.NotConnected) {
    return { error: down("is not connected.") };
  }
  const message = `The server "${serverId}" was asked and did not answer: ${reason}.`;
  return { error: hubError("answer_lost", message, { ...options, retryable: true }) };
}

/** By the protocol it is 404 that says so; many servers say it with 400 and in words of their own. */
const UNKNOWN_SESSION =
  /\b(no valid|no such|invalid|unknown|expired)\b.{0,20}\bsession|\bsession\b.{0,20}\b(not found|not valid|invalid|unknown|expired|does not exist)\b/i;
