import { silentLogger } from "@ergon/core";
import { createMemoryLoginStore } from "@ergon/core/store-kit";
import type { LoginStore, McpConnection, MCPServerConfig } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMcpConnector } from "../connection/connector.ts";
import {
  agreeingPrompt,
  startAuthorizationServer,
  startGuardedServer,
  type AuthorizationServer,
  type GuardedServer,
} from "./authorization-server.fixture.ts";
import type { LoginPrompt } from "./server-login.ts";

vi.setConfig({ testTimeout: 60_000 });

let as: AuthorizationServer;
let server: GuardedServer;
let logins: LoginStore;
const closing: (() => unknown)[] = [];

beforeEach(async () => {
  as = await startAuthorizationServer();
  server = await startGuardedServer(as);
  logins = createMemoryLoginStore();
  closing.push(as.close, server.close);
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe("a server that wants a login", () => {
  it("is down without one, says which command helps, and nobody is asked anything (G3)", async () => {
    const connection = await opened();
    expect(connection.report()).toMatchObject({
      state: "down",
      errors: ['The server "web" wants a login. Run: ergon servers login web'],
    });
    expect(as.asked).toEqual([]);
  });

  it("is reached after a login, by whoever has what the login left", async () => {
    const desk = agreeingPrompt();
    const first = await opened({ desk });
    expect(first.report().state).toBe("ready");
    expect(desk.shown).toHaveLength(1);
    const asked = desk.shown[0]?.searchParams;
    expect(asked?.get("code_challenge_method")).toBe("S256");
    expect(asked?.get("resource")).toBe(server.url);
    expect(asked?.get("scope")).toBe("read");
    const later = await opened();
    expect(later.report().state).toBe("ready");
    expect(await add(later)).toBe("3");
    expect(requests("/register")).toHaveLength(1);
  });

  it("is reached by a process that was there before somebody logged in elsewhere", async () => {
    const waiting = await opened();
    expect(waiting.report().state).toBe("down");
    await opened({ desk: agreeingPrompt() });
    waiting.wake();
    await vi.waitFor(() => expect(waiting.report().state).toBe("ready"), { timeout: 30_000, interval: 20 });
  });

  it("renews a token that ran out, once for all calls that it fails (G1)", async () => {
    await opened({ desk: agreeingPrompt() });
    const connection = await opened();
    as.expire();
    const sums = await Promise.all(Array.from({ length: 10 }, () => add(connection)));
    expect(sums).toEqual(Array.from({ length: 10 }, () => "3"));
    expect(requests("/token").filter(({ params }) => params.get("grant_type") === "refresh_token")).toHaveLength(1);
  });

  it("asks for a new login when the old one cannot be renewed", async () => {
    await opened({ desk: agreeingPrompt() });
    const connection = await opened();
    as.expire();
    as.refusesRefresh = true;
    await expect(add(connection)).rejects.toMatchObject({
      code: "login_needed",
      message: expect.stringContaining("ergon servers login web"),
    });
    expect((await logins.read({ serverId: "web", url: server.url }))?.tokens).toBeUndefined();
  });

  it("does not get its tokens sent to another authorization server that it names later (G2)", async () => {
    await opened({ desk: agreeingPrompt() });
    const connection = await opened();
    const thief = await startAuthorizationServer();
    closing.push(thief.close);
    server.authorizationServer = thief;
    await expect(add(connection)).rejects.toBeDefined();
    expect(thief.asked.filter(({ path }) => path !== "/.well-known/oauth-authorization-server")).toEqual([]);
  });

  it("asks for more when a tool needs it, with what was granted before", async () => {
    const desk = agreeingPrompt();
    const connection = await opened({ desk });
    expect(await call(connection, "write")).toBe("3");
    expect(desk.shown.at(-1)?.searchParams.get("scope")?.split(" ").sort()).toEqual(["read", "write"]);
  });

  it("says what is missing where nobody can be asked, and the next login asks for it", async () => {
    await opened({ desk: agreeingPrompt() });
    const connection = await opened();
    await expect(call(connection, "write")).rejects.toMatchObject({
      code: "login_needed",
      message: expect.stringMatching(/more than was granted \(write\).*ergon servers login web/),
    });
    expect(await add(connection)).toBe("3");
    await opened({ desk: agreeingPrompt() });
    expect(await call(connection, "write")).toBe("3");
  });

  it.each([
    ["file:///etc/passwd"],
    ["http://login.example/authorize"],
    ["javascript:alert(1)"],
    ["--help"],
    ["$(touch /tmp/x)"],
    ["ms-msdt:/id"],
  ])("cannot send a person to %s", async (address) => {
    as.metadata = { authorization_endpoint: address };
    const desk = agreeingPrompt();
    const connection = await opened({ desk });
    expect(connection.report().state).toBe("down");
    expect(connection.report().errors.join()).not.toBe("");
    expect(desk.shown).toEqual([]);
    expect(requests("/token")).toEqual([]);
  });

  it.each([
    ["of another login", (back: URLSearchParams) => back.set("state", "other"), "belongs to another login"],
    ["of another issuer", (back: URLSearchParams) => back.set("iss", "https://evil.example"), "Issuer mismatch"],
    ["without an issuer", (back: URLSearchParams) => back.delete("iss"), "Issuer mismatch"],
  ])("does not take an answer %s", async (_, change, why) => {
    const agreeing = agreeingPrompt();
    const desk: LoginPrompt = {
      ...agreeing,
      ask: async (...args) => {
        const back = await agreeing.ask(...args);
        change(back);
        return back;
      },
    };
    const connection = await opened({ desk });
    expect(connection.report()).toMatchObject({ state: "down", errors: [expect.stringContaining(why)] });
    expect(requests("/token")).toEqual([]);
  });

  it("says so when the person refuses, and keeps the login that was there (G4)", async () => {
    await opened({ desk: agreeingPrompt() });
    const before = await logins.read({ serverId: "web", url: server.url });
    as.error = "access_denied";
    const connection = await opened({ desk: agreeingPrompt() });
    expect(connection.report()).toMatchObject({ state: "down", errors: [expect.stringContaining("access_denied")] });
    expect((await logins.read({ serverId: "web", url: server.url }))?.tokens).toEqual(before?.tokens);
  });

  it("waits for a person longer than for a server", async () => {
    const agreeing = agreeingPrompt();
    const slow: LoginPrompt = {
      ...agreeing,
      ask: async (...args) => {
        await new Promise((resolve) => setTimeout(resolve, 2_500));
        return agreeing.ask(...args);
      },
    };
    const connection = await opened({ desk: slow, config: { timeoutMs: 2_000 } });
    expect(connection.report()).toMatchObject({ state: "ready", errors: [] });
    expect(agreeing.shown).toHaveLength(1);
  });

  it("is reached by a program with a secret of its own, and nobody is there", async () => {
    const oauth = { grant: "client_credentials", clientId: "robot", clientSecret: "canary-secret" } as const;
    const connection = await opened({ config: { oauth: { ...oauth, issuer: as.issuer } } });
    expect(connection.report().state).toBe("ready");
    expect(await add(connection)).toBe("3");
    expect(requests("/register")).toEqual([]);
    expect(requests("/token")[0]?.authorization).toMatch(/^Basic /);
  });

  it("gets a secret that is for another authorization server sent nowhere (G2)", async () => {
    const oauth = { grant: "client_credentials", clientId: "robot", clientSecret: "canary-secret" } as const;
    const connection = await opened({ config: { oauth: { ...oauth, issuer: "https://login.example" } } });
    expect(connection.report().state).toBe("down");
    expect(requests("/token")).toEqual([]);
  });

  it("is asked with the key of its configuration, where it has one", async () => {
    const connection = await opened({ config: { headers: { Authorization: "Bearer from-config" } } });
    expect(connection.report().state).toBe("down");
    expect(connection.report().errors.join()).not.toContain("servers login");
    expect(as.asked).toEqual([]);
  });
});

async function opened(
  options: { readonly desk?: LoginPrompt; readonly config?: Partial<MCPServerConfig> } = {},
): Promise<McpConnection> {
  const { desk, config = {} } = options;
  const connector = createMcpConnector({ logger: silentLogger, logins, ...(desk === undefined ? {} : { desk }) });
  const connection = connector.open({
    config: { id: "web", name: "web", url: server.url, enabled: true, ...config },
    secrets: [],
    onChange: () => undefined,
  });
  closing.push(connection.stop);
  connection.start();
  await connection.settled();
  return connection;
}

function add(connection: McpConnection): Promise<string> {
  return call(connection, "add");
}

async function call(connection: McpConnection, name: string): Promise<string> {
  const { content } = await connection.call({ name, args: { a: 1, b: 2 } });
  return content[0]?.text ?? "";
}

function requests(path: string): typeof as.asked {
  return as.asked.filter((asked) => asked.path === path);
}
