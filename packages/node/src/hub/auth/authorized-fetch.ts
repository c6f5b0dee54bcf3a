import type * as sdkTypes from "@modelcontextprotocol/client";
import type { ServerLogin } from "./server-login.ts";

/** A server that still refuses what it asked for is not asked a third time. */
const MAX_STEP_UPS = 1;

/**
 * Adds the login's token to each request to the server, and repeats a request once that was refused for want of a better
 * one. Every transport of the SDK takes it, and an error of it comes out as it is.
 */
export function authorizedFetch(next: typeof fetch, login: ServerLogin, signal: AbortSignal): typeof fetch {
  return async (input, init) => {
    let renewed = 0;
    let stepUps = 0;
    for (;;) {
      const token = await login.token();
      const answer = await next(
        input,
        token === undefined ? init : { ...init, headers: withToken(init?.headers, token) },
      );
      const needsLogin = answer.status === 401 && renewed < 1;
      const challenge = answer.status === 401 || answer.status === 403 ? await challengeOf(answer) : undefined;
      const needsMore = answer.status === 403 && challenge?.error === "insufficient_scope" && stepUps < MAX_STEP_UPS;
      if (!needsLogin && !needsMore) return answer;
      await answer.body?.cancel();
      if (needsLogin) renewed += 1;
      else stepUps += 1;
      const { scope, resourceMetadataUrl } = challenge ?? {};
      await login.renew({ refused: token, scope, resourceMetadataUrl, needsMore }, signal);
    }
  };
}

async function challengeOf(answer: Response): Promise<ReturnType<Sdk["extractWWWAuthenticateParams"]>> {
  const sdk = await import("@modelcontextprotocol/client");
  return sdk.extractWWWAuthenticateParams(answer);
}

type Sdk = typeof sdkTypes;

function withToken(headers: RequestInit["headers"], token: string): Headers {
  const all = new Headers(headers);
  all.set("authorization", `Bearer ${token}`);
  return all;
}
