import { hubError } from "@ergon/core";
import { boundedAnswer } from "./bounded-answer.ts";

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
      const answer = await fetch(url, { ...init, redirect: "manual" });
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
