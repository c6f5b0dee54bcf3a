/*
 * The login at one remote server: its token for each request, and how to come by the next one.
 *
 * G1  Of many requests that a token fails at once, one renews it and the others wait.
 * G2  Tokens and secrets go only to the authorization server that they are of: another one that the server names later
 *     gets neither.
 * G3  Without a desk nobody is asked, nothing is registered and no address is opened: `login_needed` names the command.
 * G4  A stored token is replaced by a good one only; a login that fails leaves what was there.
 */
import type * as sdkTypes from "@modelcontextprotocol/client";
import { isErgonError } from "@ergon/core";
import { hubError, type Login, type LoginStore, type OAuthSettings } from "@ergon/core/hub";
import { authorizationFetch } from "./authorization-fetch.ts";
import {
  createOAuthClient,
  loginNeeded,
  type OAuthClient,
  type OAuthClientDeps,
  type OAuthState,
} from "./oauth-client.ts";

/** Where a person can be sent to an authorization server and comes back from it. */
export type LoginPrompt = {
  readonly redirectUrl: string;
  /** Shows the address to a person; resolves with what their browser came back with. */
  readonly ask: (address: URL, signal: AbortSignal) => Promise<URLSearchParams>;
};

export type ServerLoginDeps = {
  readonly serverId: string;
  readonly url: string;
  readonly settings?: OAuthSettings | undefined;
  readonly store: LoginStore;
  readonly desk?: LoginPrompt | undefined;
  readonly fetch?: typeof fetch;
};

/** Why a server wants another token than the one that it got. */
type Challenge = {
  readonly refused: string | undefined;
  readonly scope?: string | undefined;
  readonly resourceMetadataUrl?: URL | undefined;
  /** The token is good, and not good enough. */
  readonly needsMore?: boolean;
};

export type ServerLogin = {
  readonly token: () => Promise<string | undefined>;
  /** Comes by another token, or says with `login_needed` who has to. */
  readonly renew: (challenge: Challenge, signal: AbortSignal) => Promise<void>;
  /** The renewal that is under way; it may wait for a person. */
  readonly pending: () => Promise<void> | undefined;
  /** What must not be shown. */
  readonly secrets: () => readonly string[];
};

export function createServerLogin(deps: ServerLoginDeps): ServerLogin {
  const { serverId, url, store, desk, settings = {} } = deps;
  const place = { serverId, url };
  const ask = deps.fetch ?? authorizationFetch({ serverUrl: url });
  const isProgram = settings.grant === "client_credentials";
  const secrets = new Set<string>();
  // Where somebody is there to log in, what was stored is not used: they may want to be somebody else.
  let isFresh = desk !== undefined;
  let current: Login | undefined;
  let renewing: Promise<void> | undefined;

  async function read(): Promise<Login> {
    current = (await store.read(place)) ?? {};
    keepSecret(current);
    return current;
  }

  async function save(login: Login): Promise<void> {
    current = login;
    keepSecret(login);
    await store.write(place, login);
  }

  function keepSecret({ tokens, client }: Login): void {
    for (const secret of [tokens?.access_token, tokens?.refresh_token, client?.["client_secret"]]) {
      if (typeof secret === "string") secrets.add(secret);
    }
  }

  async function renew(challenge: Challenge, signal: AbortSignal): Promise<void> {
    // Another process on the same data may have logged in since.
    const login = await read();
    const held = login.tokens?.access_token;
    if (held !== undefined && held !== challenge.refused && !isFresh) return;
    const sdk = await import("@modelcontextprotocol/client");
    const granted = challenge.needsMore === true ? login.tokens?.scope : undefined;
    const scope = sdk.computeScopeUnion(granted, challenge.scope, settings.scope, login.wantedScope);
    const canAsk = desk !== undefined || isProgram;
    if (challenge.needsMore === true && !canAsk) {
      if (scope !== undefined) await save({ ...login, wantedScope: scope });
      throw loginNeeded(serverId, `wants more than was granted (${challenge.scope ?? "it does not say what"})`);
    }
    if (login.tokens?.refresh_token === undefined && !canAsk) throw loginNeeded(serverId);
    const client = createOAuthClient({
      serverId,
      settings,
      login: startOf(login),
      save: async ({ client: made, tokens }) => {
        const { wantedScope, ...before } = login;
        const isDone = tokens !== undefined;
        const kept = isDone || !isFresh ? tokens : before.tokens;
        await save({ client: made, tokens: kept, ...(isDone || wantedScope === undefined ? {} : { wantedScope }) });
      },
      ...(desk === undefined ? {} : { redirectUrl: desk.redirectUrl }),
      ...keyAuthentication(sdk, settings),
    });
    const request = {
      serverUrl: url,
      fetchFn: ask,
      ...(scope === undefined ? {} : { scope }),
      ...(challenge.resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    };
    const forceReauthorization = challenge.needsMore === true;
    if ((await sdk.auth(client, { ...request, forceReauthorization })) === "REDIRECT") {
      const back = await askPerson(client, signal);
      await sdk.auth(client, { ...request, ...answerOf(sdk, client, back) });
    }
    isFresh = false;
  }

  /** A registration names the address that a browser is sent back to; at another address it is worth nothing. */
  function startOf({ client, tokens }: Login): OAuthState {
    const addresses = client?.["redirect_uris"];
    const isElsewhere = desk !== undefined && Array.isArray(addresses) && !addresses.includes(desk.redirectUrl);
    return { client: isElsewhere ? undefined : client, tokens: isFresh ? undefined : tokens };
  }

  async function askPerson(client: OAuthClient, signal: AbortSignal): Promise<URLSearchParams> {
    const { address, state } = client.attempt();
    if (desk === undefined || address === undefined) throw loginNeeded(serverId);
    const back = await desk.ask(address, signal);
    if (back.get("state") !== state) throw failed("the answer belongs to another login");
    return back;
  }

  function answerOf(sdk: Sdk, client: OAuthClient, back: URLSearchParams): { authorizationCode: string; iss?: string } {
    const iss = back.get("iss") ?? undefined;
    const metadata = client.attempt().discovery?.authorizationServerMetadata;
    // Whose answer it is comes before what it says.
    sdk.validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
    const authorizationCode = back.get("code");
    if (authorizationCode === null) throw failed(`the authorization server says "${back.get("error") ?? "nothing"}"`);
    return { authorizationCode, ...(iss === undefined ? {} : { iss }) };
  }

  function failed(why: string, cause?: unknown): Error {
    const message = `The login at the server "${serverId}" failed: ${why}.`;
    return hubError("login_failed", message, { cause, details: { serverId } });
  }

  return {
    secrets: () => [...secrets],
    pending: () => renewing,
    token: async () => (isFresh ? undefined : (current ?? (await read())).tokens?.access_token),
    renew: (challenge, signal) =>
      (renewing ??= renew(challenge, signal)
        .catch((thrown: unknown) => {
          if (isErgonError(thrown)) throw thrown;
          throw failed(thrown instanceof Error ? thrown.message : "it did not say why", thrown);
        })
        .finally(() => (renewing = undefined))),
  };
}

type Sdk = typeof sdkTypes;

function keyAuthentication(
  sdk: Sdk,
  { clientId, privateKey, algorithm: alg = "RS256" }: OAuthSettings,
): Pick<OAuthClientDeps, "addClientAuthentication"> {
  if (clientId === undefined || privateKey === undefined) return {};
  return {
    addClientAuthentication: sdk.createPrivateKeyJwtAuth({ issuer: clientId, subject: clientId, privateKey, alg }),
  };
}
