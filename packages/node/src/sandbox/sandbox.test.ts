import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, silentLogger } from "@ergon/core";
import { sandboxContract } from "@ergon/core/testing";
import { afterAll, describe, expect, it } from "vitest";
import { createLocalSandbox, type LocalSandboxOptions } from "./local-sandbox.ts";
import { createRemoteSandbox } from "./remote-sandbox.ts";
import { serveSandbox } from "./sandbox-server.ts";

const clock = createSystemClock();
const cacheFolder = await mkdtemp(join(tmpdir(), "ergon-sandbox-"));
const bundle = join(import.meta.dirname, "child");
afterAll(() => rm(cacheFolder, { recursive: true }));

function local(options: Partial<LocalSandboxOptions> = {}) {
  return createLocalSandbox({ bundle, cacheFolder, clock, ...options });
}

sandboxContract("in child processes", async () => ({ sandbox: local() }));

sandboxContract("through the service", async () => {
  const server = await serveSandbox({ sandbox: local(), token: "t", host: "127.0.0.1", port: 0, logger: silentLogger });
  return { sandbox: { ...createRemoteSandbox({ url: server.url, token: "t" }), close: server.close } };
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
    const server = await serveSandbox({ sandbox, token: "t", host: "127.0.0.1", port: 0, logger: silentLogger });
    const response = await fetch(`${server.url}/execute`, { method: "POST", headers, body: "{" });
    expect(response.status).toBe(status);
    await server.close();
  });

  it("says what is wrong when nobody listens, and when the token is wrong", async () => {
    const server = await serveSandbox({
      sandbox: local(),
      token: "t",
      host: "127.0.0.1",
      port: 0,
      logger: silentLogger,
    });
    const call = (token: string) => createRemoteSandbox({ url: server.url, token }).profiles();
    await expect(call("other")).rejects.toMatchObject({ code: "sandbox_unavailable", message: /ERGON_SANDBOX_TOKEN/ });
    await server.close();
    await expect(call("t")).rejects.toMatchObject({ code: "sandbox_unavailable", details: { lost: true } });
  });
});
