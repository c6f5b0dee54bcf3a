import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, type Sandbox, silentLogger } from "@ergon/core";
import { sandboxContract } from "@ergon/core/testing/contracts";
import { afterAll, describe, expect, it } from "vitest";
import { createLocalSandbox, type LocalSandboxOptions } from "./local-sandbox.ts";
import { createProfiles } from "./profiles.ts";
import { createRemoteSandbox } from "./remote-sandbox.ts";
import { serveSandbox } from "./sandbox-server.ts";

const clock = createSystemClock();
const cacheFolder = await mkdtemp(join(tmpdir(), "ergon-sandbox-"));
const bundle = join(import.meta.dirname, "child");
afterAll(() => rm(cacheFolder, { recursive: true }));

function local(options: Partial<LocalSandboxOptions> = {}) {
  return createLocalSandbox({ bundle, cacheFolder, clock, ...options });
}

const served = (sandbox: Sandbox) =>
  serveSandbox({ sandbox, token: "t", host: "127.0.0.1", port: 0, logger: silentLogger });

// First of all: what it makes here, the others start from.
describe("the first python of a data folder", { timeout: 180_000 }, () => {
  it("says to whoever waits that it is being prepared, also through the service", async () => {
    const server = await served(local());
    const sandbox = createRemoteSandbox({ url: server.url, token: "t" });
    let preparing = 0;
    const call = (language: "python" | "javascript") =>
      sandbox.execute(
        { language, code: language === "python" ? "1" : "return 1" },
        { onPreparing: () => (preparing += 1) },
      );
    expect(await call("javascript")).toMatchObject({ returnValue: 1 });
    expect(preparing).toBe(0);
    expect(await call("python")).toMatchObject({ returnValue: 1 });
    expect(preparing).toBe(1);
    expect(await call("python")).toMatchObject({ returnValue: 1 });
    expect(preparing).toBe(1);
    await server.close();
  });
});

sandboxContract("in child processes", async () => ({ sandbox: local() }));

sandboxContract("through the service", async () => {
  const server = await served(local({ spares: 0 }));
  return { sandbox: { ...createRemoteSandbox({ url: server.url, token: "t" }), close: server.close } };
});

// A profile that this machine lacks is refused, as the contract shows for the others.
const fences = createProfiles();
for (const { name: profile, languages } of (await fences.list()).filter(
  ({ name, available }) => available && name !== "default",
)) {
  sandboxContract(`the ${profile} profile`, async () => ({
    sandbox: local({ profiles: fences, spares: 0 }),
    profile,
    languages,
  }));
}

describe("a profile that cannot be had", () => {
  it("is refused with how to get it, and no other is taken instead", async () => {
    const sandbox = local({ profiles: createProfiles(() => undefined) });
    for (const profile of ["hardened", "data"] as const) {
      await expect(sandbox.execute({ language: "python", code: "1", profile })).rejects.toMatchObject({
        code: "sandbox_profile_unavailable",
        message: expect.stringMatching(/bubblewrap|Linux/) as string,
      });
    }
    const missing = (await sandbox.profiles()).filter(({ available }) => !available);
    expect(missing.map(({ name }) => name)).toEqual(["hardened", "data"]);
    await expect(sandbox.execute({ language: "javascript", code: "1", profile: "data" })).rejects.toMatchObject({
      code: "input_invalid",
    });
  });

  it("says of a sandbox whose files are missing that they are", async () => {
    const sandbox = local({ bundle: join(cacheFolder, "nowhere") });
    const [profile] = await sandbox.profiles();
    expect(profile).toMatchObject({ name: "default", available: false });
    await expect(sandbox.execute({ language: "python", code: "1" })).rejects.toMatchObject({
      code: "sandbox_unavailable",
    });
  });

  it("is found missing where bubblewrap does not work", async () => {
    const broken = createProfiles(() => ({ bwrap: "/bin/false", changesUser: false }));
    const [, hardened] = await broken.list();
    expect(hardened).toMatchObject({ name: "hardened", available: false });
  });
});

describe("a sandbox with too much to do", { timeout: 120_000 }, () => {
  it("runs so many at once, lets so many wait, and turns the next away", async () => {
    const sandbox = local({ maxAtOnce: 1, maxWaiting: 2, spares: 0 });
    const call = () => sandbox.execute({ language: "javascript", code: "return 1" });
    const taken = [call(), call(), call()];
    await expect(call()).rejects.toMatchObject({ code: "sandbox_busy", retryable: true });
    for (const result of await Promise.all(taken)) expect(result).toMatchObject({ status: "success" });
    expect(await call()).toMatchObject({ status: "success" });
    await sandbox.close();
    await expect(call()).rejects.toMatchObject({ code: "sandbox_unavailable" });
  });

  it("lets one that waits go when its caller gives up", async () => {
    const sandbox = local({ maxAtOnce: 1, spares: 0 });
    const first = sandbox.execute({ language: "javascript", code: "return 1" });
    const abort = new AbortController();
    const second = sandbox.execute({ language: "javascript", code: "return 2" }, { signal: abort.signal });
    abort.abort();
    await expect(second).rejects.toMatchObject({ code: "cancelled" });
    expect(await first).toMatchObject({ returnValue: 1 });
    await sandbox.close();
  });
});

describe("the service's door", { timeout: 120_000 }, () => {
  it.each([
    ["no token", {}, 401],
    ["a wrong token", { authorization: "Bearer x" }, 401],
    ["a browser", { authorization: "Bearer t", origin: "http://example.com" }, 403],
    ["a body that is no JSON", { authorization: "Bearer t" }, 422],
  ])("refuses %s", async (_, headers, status) => {
    const sandbox = local();
    const server = await served(sandbox);
    const response = await fetch(`${server.url}/execute`, { method: "POST", headers, body: "{" });
    expect(response.status).toBe(status);
    await server.close();
  });

  it("says what is wrong when nobody listens, and when the token is wrong", async () => {
    const server = await served(local());
    const call = (token: string) => createRemoteSandbox({ url: server.url, token }).profiles();
    await expect(call("other")).rejects.toMatchObject({ code: "sandbox_unavailable", message: /ERGON_SANDBOX_TOKEN/ });
    await server.close();
    await expect(call("t")).rejects.toMatchObject({ code: "sandbox_unavailable", details: { lost: true } });
  });
});
