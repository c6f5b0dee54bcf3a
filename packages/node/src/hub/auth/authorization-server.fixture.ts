// An authorization server and the MCP server that it guards, both real and on this machine. What they are asked is written
// down; how they answer can be changed while they run.
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { LoginPrompt } from "./server-login.ts";

export type Asked = { readonly path: string; readonly params: URLSearchParams; readonly authorization: string };

export type AuthorizationServer = {
  readonly issuer: string;
  readonly asked: Asked[];
  /** Laid over what it says of itself. */
  metadata: Record<string, unknown>;
  refusesRefresh: boolean;
  /** What it sends a browser back with in the place of a code. */
  error: string | undefined;
  readonly isGood: (token: string, scope?: string) => boolean;
  /** Takes the access tokens back; those that renew them stay. */
  readonly expire: () => void;
  readonly close: () => void;
};

export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string; readonly scope: string }>();
  const access = new Map<string, string>();
  const refresh = new Map<string, string>();
  const server = await serve((request, response) => void answer(request, response));
  const issuer = server.origin;
  const as: AuthorizationServer = {
    issuer,
    asked: [],
    metadata: {},
    refusesRefresh: false,
    error: undefined,
    isGood: (token, scope) => access.has(token) && (scope === undefined || access.get(token)?.includes(scope) === true),
    expire: () => access.clear(),
    close: server.close,
  };
  return as;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", issuer);
    const body = await text(request);
    const isJson = request.headers["content-type"]?.includes("json") === true;
    const params = request.method === "GET" ? url.searchParams : new URLSearchParams(isJson ? {} : body);
    as.asked.push({ path: url.pathname, params, authorization: request.headers.authorization ?? "" });
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          authorization_response_iss_parameter_supported: true,
          ...as.metadata,
        });
      case "/register":
        return json(response, 201, { ...(JSON.parse(body) as object), client_id: randomUUID() });
      case "/authorize":
        return authorize(params, response);
      case "/token":
        return token(params, response);
      default:
        return json(response, 404, {});
    }
  }

  function authorize(params: URLSearchParams, response: ServerResponse): void {
    const back = new URL(params.get("redirect_uri") ?? "");
    const code = randomUUID();
    const redirect = back.href;
    codes.set(code, { challenge: params.get("code_challenge") ?? "", redirect, scope: params.get("scope") ?? "" });
    if (as.error === undefined) back.searchParams.set("code", code);
    else back.searchParams.set("error", as.error);
    back.searchParams.set("state", params.get("state") ?? "");
    back.searchParams.set("iss", issuer);
    response.writeHead(302, { location: back.href }).end();
  }

  function token(params: URLSearchParams, response: ServerResponse): void {
    const grant = params.get("grant_type");
    const refused = () => json(response, 400, { error: "invalid_grant" });
    if (grant === "client_credentials") return tokens(response, params.get("scope") ?? "");
    if (grant === "refresh_token") {
      const scope = refresh.get(params.get("refresh_token") ?? "");
      if (scope === undefined || as.refusesRefresh) return refused();
      refresh.delete(params.get("refresh_token") ?? "");
      return tokens(response, scope);
    }
    const code = codes.get(params.get("code") ?? "");
    codes.delete(params.get("code") ?? "");
    const proof = createHash("sha256")
      .update(params.get("code_verifier") ?? "")
      .digest("base64url");
    if (code?.challenge !== proof || code.redirect !== params.get("redirect_uri")) return refused();
    return tokens(response, code.scope);
  }

  function tokens(response: ServerResponse, scope: string): void {
    const made = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    access.set(made.access_token, scope);
    refresh.set(made.refresh_token, scope);
    json(response, 200, { ...made, token_type: "Bearer", expires_in: 3_600, scope });
  }
}

export type GuardedServer = {
  readonly url: string;
  /** Who is asked for logins; changes as the server likes. */
  authorizationServer: AuthorizationServer;
  readonly close: () => void;
};

/** Its tool `add` is for everybody who has logged in, and `write` for those with the scope "write". */
export async function startGuardedServer(authorizationServer: AuthorizationServer): Promise<GuardedServer> {
  const mcp = toNodeHandler(createMcpHandler(tools));
  const server = await serve((request, response) => void answer(request, response));
  const guarded: GuardedServer = { url: `${server.origin}/mcp`, authorizationServer, close: server.close };
  return guarded;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const metadata = `${server.origin}/.well-known/oauth-protected-resource/mcp`;
    if (request.url === "/.well-known/oauth-protected-resource/mcp") {
      const servers = [guarded.authorizationServer.issuer];
      return json(response, 200, { resource: guarded.url, authorization_servers: servers, scopes_supported: ["read"] });
    }
    const token = request.headers.authorization?.replace("Bearer ", "") ?? "";
    if (!guarded.authorizationServer.isGood(token)) {
      return challenge(response, 401, `Bearer resource_metadata="${metadata}"`);
    }
    if (request.headers["mcp-name"] === "write" && !guarded.authorizationServer.isGood(token, "write")) {
      const why = `Bearer error="insufficient_scope", scope="write", resource_metadata="${metadata}"`;
      return challenge(response, 403, why);
    }
    await mcp(request as Parameters<typeof mcp>[0], response);
  }
}

/** Stands for a person with a browser who agrees to everything. */
export function agreeingPrompt(): LoginPrompt & { readonly shown: URL[] } {
  const shown: URL[] = [];
  return {
    shown,
    redirectUrl: "http://127.0.0.1:7/callback",
    ask: async (address) => {
      shown.push(address);
      const answer = await fetch(address, { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "").searchParams;
    },
  };
}

function tools(): McpServer {
  const server = new McpServer({ name: "guarded", version: "1.0.0" });
  const inputSchema = z.object({ a: z.number(), b: z.number() });
  for (const name of ["add", "write"]) {
    server.registerTool(name, { description: "Adds two numbers.", inputSchema }, ({ a, b }) => ({
      content: [{ type: "text", text: String(a + b) }],
    }));
  }
  return server;
}

function challenge(response: ServerResponse, status: number, header: string): void {
  response.writeHead(status, { "www-authenticate": header }).end();
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function serve(listener: RequestListener): Promise<{ readonly origin: string; readonly close: () => void }> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
