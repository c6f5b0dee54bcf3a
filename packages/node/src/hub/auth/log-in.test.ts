import { createMemoryLoginStore } from "@ergon/core/store-kit";
import type { LoginStore, WantedServer } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  startAuthorizationServer,
  startGuardedServer,
  type AuthorizationServer,
  type GuardedServer,
} from "./authorization-server.fixture.ts";
import { logIn } from "./log-in.ts";

vi.setConfig({ testTimeout: 60_000 });
let as: AuthorizationServer;
let server: GuardedServer;
let logins: LoginStore;
const never = new AbortController().signal;

beforeEach(async () => {
  as = await startAuthorizationServer();
  server = await startGuardedServer(as);
  logins = createMemoryLoginStore();
});
afterEach(() => {
  server.close();
  as.close();
});

describe("logging in at a server", () => {
  it("takes a browser through the authorization server and back, and keeps what that left", async () => {
    const shown: URL[] = [];
    const show = (address: URL) => {
      shown.push(address);
      // A browser follows where it is sent, back to this machine.
      void fetch(address);
    };
    expect(await logIn({ server: wanted(), logins, show, signal: never })).toBe(true);
    expect((await kept())?.tokens?.access_token).toMatch(/^access-/);
    expect(await logIn({ server: wanted(), logins, show, signal: never })).toBe(true);
    const registered = as.asked.filter(({ path }) => path === "/register");
    expect(registered, "the second login uses the registration and the port of the first").toHaveLength(1);
    expect(shown[1]?.searchParams.get("redirect_uri")).toBe(shown[0]?.searchParams.get("redirect_uri"));
  });

  it("takes the address that a person types, where their browser is elsewhere", async () => {
    let address: URL | undefined;
    const typed = async () => {
      const answer = await fetch(address ?? "", { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "").searchParams;
    };
    const show = (given: URL) => {
      address = given;
    };
    expect(await logIn({ server: wanted(), logins, show, typed, signal: never })).toBe(true);
  });

  it("cleans up when it is no longer wanted, and changes nothing", async () => {
    const gaveUp = new AbortController();
    let redirectUri = "";
    const show = (address: URL) => {
      redirectUri = address.searchParams.get("redirect_uri") ?? "";
      gaveUp.abort(new Error("enough"));
    };
    await expect(logIn({ server: wanted(), logins, show, signal: gaveUp.signal })).rejects.toThrow("enough");
    await expect(fetch(redirectUri)).rejects.toThrow("fetch failed");
    expect((await kept())?.tokens).toBeUndefined();
  });

  it("says what went wrong", async () => {
    as.error = "access_denied";
    const show = (address: URL) => void fetch(address);
    await expect(logIn({ server: wanted(), logins, show, signal: never })).rejects.toMatchObject({
      code: "login_failed",
      message: expect.stringContaining("access_denied"),
    });
  });

  it("has nobody asked by a server that is let in by its configuration", async () => {
    const oauth = {
      grant: "client_credentials",
      clientId: "robot",
      clientSecret: "secret",
      issuer: as.issuer,
    } as const;
    const show = vi.fn<(address: URL) => void>();
    const { config } = wanted();
    expect(await logIn({ server: { config: { ...config, oauth } }, logins, show, signal: never })).toBe(false);
    expect(show).not.toHaveBeenCalled();
  });

  it.each([
    [{ config: { id: "a", name: "a", command: "node", enabled: true } }, "input_invalid"],
    [{ config: { id: "a", name: "a", url: "http://x", enabled: true }, problem: "It needs ${KEY}." }, "login_failed"],
  ])("is refused where there is nothing to log in at", async (given, code) => {
    await expect(logIn({ server: given, logins, show: () => undefined, signal: never })).rejects.toMatchObject({
      code,
    });
  });
});

function wanted(): WantedServer {
  return { config: { id: "web", name: "web", url: server.url, enabled: true } };
}

function kept(): ReturnType<LoginStore["read"]> {
  return logins.read({ serverId: "web", url: server.url });
}
