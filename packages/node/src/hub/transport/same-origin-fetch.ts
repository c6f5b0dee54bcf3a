import { hubError } from "@ergon/core/hub";
import { patientFetch } from "../../patient-fetch.ts";
import { boundedAnswer } from "../call/bounded-answer.ts";

export const MAX_REDIRECTS = 3;

/**
 * Headers of a server's configuration hold keys: a redirect is followed only where they belong, to the same origin. Other
 * addresses (an authorization server's) are asked as they are, without following anything.
 */
export function sameOriginFetch(serverUrl: string): typeof fetch {
  const home = new URL(serverUrl).origin;
  return async (input, init) => {
    let url = new URL(input instanceof Request ? input.url : input);
    for (let redirects = 0; ; redirects += 1) {
      const answer = await asked(url, init);
      const location = answer.headers.get("location");
      if (answer.status < 300 || answer.status > 399 || location === null) return boundedAnswer(answer);
      const next = new URL(location, url);
      await answer.body?.cancel();
      if (url.origin !== home || next.origin !== home || redirects >= MAX_REDIRECTS) {
        const message = `${url.origin} sends its callers on to ${next.origin}; that is not followed.`;
        throw hubError("server_down", message, { details: { from: url.origin, to: next.origin } });
      }
      url = next;
    }
  };
}

/** How a system says that nobody was there to send anything to. */
const UNREACHABLE = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** How long an answer may take is said by who asks: a call has the time limit of its server, and progress prolongs it. */
async function asked(url: URL, { method, headers, body, signal }: RequestInit = {}): Promise<Response> {
  if (typeof body !== "string" && body !== undefined && body !== null) throw new TypeError("A body is a text here.");
  try {
    return await patientFetch(url, {
      signal: signal ?? undefined,
      ...(method === undefined ? {} : { method }),
      ...(headers === undefined ? {} : { headers }),
      ...(typeof body === "string" ? { body } : {}),
    });
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (typeof code !== "string" || !UNREACHABLE.has(code)) throw cause;
    const message = `${url.host} cannot be reached (${code}).`;
    throw hubError("server_down", message, { cause, retryable: true, details: { host: url.host, reason: code } });
  }
}
