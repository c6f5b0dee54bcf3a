import { randomBytes } from "node:crypto";
import type {
  AddClientAuthentication,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import { hubError, type Login, type OAuthSettings } from "@ergon/core/hub";
import { checkWebAddress } from "./web-address.ts";

export type OAuthClientDeps = {
  readonly serverId: string;
  readonly settings: OAuthSettings;
  /** As it was when the attempt began. */
  readonly login: OAuthState;
  readonly save: (state: OAuthState) => Promise<void>;
  /** Where a person's browser is sent back to; absent where nobody is there to log in. */
  readonly redirectUrl?: string;
  readonly addClientAuthentication?: AddClientAuthentication;
};

export type OAuthState = Pick<Login, "client" | "tokens">;

export type OAuthClient = OAuthClientProvider & {
  /** What the attempt found out, and what it sent a person off with. */
  readonly attempt: () => {
    readonly address: URL | undefined;
    readonly state: string;
    readonly discovery: OAuthDiscoveryState | undefined;
  };
};

/**
 * One attempt to be authorized, as the SDK drives it. The verifier, the state and what was found out about the
 * authorization server live as long as the attempt: who the authorization server is, is asked anew each time.
 */
export function createOAuthClient(deps: OAuthClientDeps): OAuthClient {
  const { serverId, settings, redirectUrl } = deps;
  const isProgram = settings.grant === "client_credentials";
  const mayRegister = redirectUrl !== undefined && settings.clientId === undefined;
  const state = randomBytes(32).toString("base64url");
  let { client, tokens } = deps.login;
  let verifier = "";
  let address: URL | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  const save = () => deps.save({ client, tokens });

  return {
    attempt: () => ({ address, state, discovery }),
    // The SDK takes a client without one for a program.
    redirectUrl: isProgram ? undefined : (redirectUrl ?? "http://127.0.0.1/callback"),
    clientMetadata: clientMetadata(settings, redirectUrl),
    ...(settings.clientMetadataUrl === undefined ? {} : { clientMetadataUrl: settings.clientMetadataUrl }),
    ...(deps.addClientAuthentication === undefined ? {} : { addClientAuthentication: deps.addClientAuthentication }),
    state: () => state,
    clientInformation: () => clientOf(settings, client),
    ...(mayRegister && {
      saveClientInformation: (made: StoredOAuthClientInformation) => {
        client = { ...made };
        return save();
      },
    }),
    tokens: () => tokens,
    saveTokens: (made) => {
      tokens = { ...made };
      // From now on a configured id is for the authorization server that knew it.
      if (settings.clientId !== undefined) client = { client_id: settings.clientId, issuer: made.issuer };
      return save();
    },
    invalidateCredentials: (what) => {
      if ((what === "all" || what === "client") && mayRegister) client = undefined;
      if (what === "all" || what === "tokens") tokens = undefined;
      return save();
    },
    redirectToAuthorization: (url) => {
      if (redirectUrl === undefined) {
        throw loginNeeded(serverId, tokens === undefined ? undefined : "could not renew its login");
      }
      address = checkWebAddress(url, serverId);
    },
    saveCodeVerifier: (made) => {
      verifier = made;
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (found) => {
      discovery = found;
    },
    discoveryState: () => discovery,
    ...(isProgram && { prepareTokenRequest: programRequest }),
  };
}

export function loginNeeded(serverId: string, why = "wants a login"): Error {
  const message = `The server "${serverId}" ${why}. Run: ergon servers login ${serverId}`;
  return hubError("login_needed", message, { details: { serverId } });
}

function clientMetadata(settings: OAuthSettings, redirectUrl: string | undefined): OAuthClientMetadata {
  const isProgram = settings.grant === "client_credentials";
  return {
    client_name: "Ergon",
    redirect_uris: redirectUrl === undefined || isProgram ? [] : [redirectUrl],
    grant_types: isProgram ? ["client_credentials"] : ["authorization_code", "refresh_token"],
    ...(isProgram ? {} : { response_types: ["code"] }),
    ...(settings.scope === undefined ? {} : { scope: settings.scope }),
  };
}

/** An id from the configuration is for the authorization server that it names, or for the first that gave a token for it. */
function clientOf(settings: OAuthSettings, kept: Login["client"]): StoredOAuthClientInformation | undefined {
  if (settings.clientId === undefined) return kept;
  const issuer = settings.issuer ?? (kept?.client_id === settings.clientId ? kept.issuer : undefined);
  return {
    client_id: settings.clientId,
    ...(settings.clientSecret === undefined ? {} : { client_secret: settings.clientSecret }),
    ...(issuer === undefined ? {} : { issuer }),
  };
}

function programRequest(scope?: string): URLSearchParams {
  return new URLSearchParams({ grant_type: "client_credentials", ...(scope === undefined ? {} : { scope }) });
}
