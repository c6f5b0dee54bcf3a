import { createRequire } from "node:module";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { MCPClientManager } from "@ergon/core/spec";
import { createToolGate } from "@ergon/core/engine";
import {
  type HubChange,
  type HubInvocation,
  MAX_SERVERS,
  START_CONCURRENCY,
  type MCPServerConfig,
} from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMcpConnector } from "./connection/connector.ts";

const PATIENCE = { timeout: 30_000, interval: 20 };
const require = createRequire(import.meta.url);
const clock = createSystemClock();

let registry: ToolRegistry;
let changes: HubChange[];
let manager: MCPClientManager;
let folder: string;
let invoked: HubInvocation[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ergon-hub-"));
  registry = new ToolRegistry();
  changes = [];
  invoked = [];
  const connector = createMcpConnector({ logger: silentLogger });
  manager = new MCPClientManager({
    connector,
    registry,
    clock,
    logger: silentLogger,
    onChange: (change) => changes.push(change),
    onInvoked: (invocation) => invoked.push(invocation),
  });
});
afterEach(async () => {
  await manager.close();
  await rm(folder, { recursive: true, force: true });
});

vi.setConfig({ testTimeout: 60_000 });

describe("MCPClientManager", () => {
  it("offers the tools of its servers by {server}_{tool}, and calls them", async () => {
    await writeFile(join(folder, "hello.txt"), "Hello from a file.");
    await manager.initialize([published("filesystem", folder), published("memory")]);
    const tools = await manager.discoverTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["filesystem_read_text_file", "memory_read_graph"]),
    );
    expect(tools.find(({ name }) => name === "memory_read_graph")).toMatchObject({
      serverId: "memory",
      serverName: "memory",
      description: expect.stringContaining('of the MCP server "memory"'),
    });
    const output = await manager.invokeTool("filesystem_read_text_file", { path: join(folder, "hello.txt") });
    expect(output).toEqual({ content: "Hello from a file." });
  });

  it("has its tools called by the gate like any other, arguments checked before they are sent", async () => {
    await manager.initialize([hostile("fine")]);
    const gate = createToolGate({ registry, clock, logger: silentLogger });
    const caller = { kind: "cli", owner: "me" } as const;
    const checked = await gate.check({ toolId: "hostile_echo", args: { a: 1 }, context: {}, caller });
    if (checked.kind !== "allowed") throw new Error(`It is ${checked.kind}.`);
    expect(checked.effects).toBe("once");
    const outcome = await gate.invoke(checked, { idempotencyKey: "k", context: {} });
    expect(outcome).toMatchObject({ kind: "ok", output: '{"a":1}' });
  });

  it("knows nobody's outcome when a server dies in a call that may be made only once", async () => {
    await manager.initialize([hostile("fine")]);
    const gate = createToolGate({ registry, clock, logger: silentLogger });
    const caller = { kind: "cli", owner: "me" } as const;
    const checked = await gate.check({ toolId: "hostile_crash", args: {}, context: {}, caller });
    if (checked.kind !== "allowed") throw new Error(`It is ${checked.kind}.`);
    const outcome = await gate.invoke(checked, { idempotencyKey: "k", context: {} });
    expect(outcome).toMatchObject({ kind: "failed", error: { code: "outcome_unknown" } });
  });

  it("believes annotations only of servers that are trusted", async () => {
    const modern: MCPServerConfig = {
      ...hostile("fine"),
      args: [join(import.meta.dirname, "modern-server.fixture.ts")],
    };
    await manager.initialize([
      { ...modern, id: "a", name: "a" },
      { ...modern, id: "b", name: "b", trusted: true },
    ]);
    expect([registry.get("a_add")?.effects, registry.get("b_add")?.effects]).toEqual(["once", "read"]);
  });

  it("repeats a call that only reads when the connection was lost, once the server is back", async () => {
    const file = join(folder, "dies-once");
    const config = { ...hostile("reads", file), trusted: true };
    await manager.initialize([config]);
    expect(await manager.invokeTool("hostile_crash_once", {})).toBe("read");
  });

  it("does not make the others wait for a server that hangs at its start", async () => {
    void manager.initialize([{ ...hostile("hangs"), id: "hangs", name: "hangs" }, hostile("fine")]);
    await vi.waitFor(() => expect(registry.has("hostile_echo")).toBe(true), PATIENCE);
    expect(manager.getServerStatus().map(({ id, state }) => [id, state])).toEqual([
      ["hangs", "starting"],
      ["hostile", "ready"],
    ]);
  });

  it("calls nine servers as ever while the tenth is down, and fails its calls at once", async () => {
    const nine = Array.from({ length: 9 }, (_, n) => ({
      ...hostile("fine"),
      id: `s${String(n)}`,
      name: `s${String(n)}`,
    }));
    const file = join(folder, "dies-for-good");
    const tenth = { ...hostile("once", file), id: "tenth", name: "tenth" };
    await manager.initialize([...nine, tenth]);
    await expect(manager.invokeTool("tenth_crash", {})).rejects.toMatchObject({ code: "outcome_unknown" });
    await vi.waitFor(() => expect(stateOf("tenth")).toBe("down"), PATIENCE);
    const calls = Array.from({ length: 90 }, (_, n) => manager.invokeTool(`s${String(n % 9)}_echo`, { n }));
    await expect(manager.invokeTool("tenth_echo", {})).rejects.toMatchObject({ code: "server_down" });
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 90 }, (_, n) => JSON.stringify({ n })));
    expect(manager.getServerStatus().filter(({ state }) => state === "ready")).toHaveLength(9);
  });

  it("starts so many at once, and passes over those that are slow to start", async () => {
    const many = Array.from({ length: START_CONCURRENCY + 1 }, (_, n) => ({
      ...hostile("hangs"),
      id: `h${String(n)}`,
      name: `h${String(n)}`,
    }));
    void manager.initialize([...many, hostile("fine")]);
    const starting = () => manager.getServerStatus().filter(({ state }) => state === "starting").length;
    await vi.waitFor(() => expect(starting()).toBe(START_CONCURRENCY), PATIENCE);
    expect(stateOf("hostile")).toBe("configured");
    await vi.waitFor(() => expect(registry.has("hostile_echo")).toBe(true), PATIENCE);
    expect(starting()).toBe(START_CONCURRENCY + 1);
  });

  it("says of each server what is wrong with it, and what a person can do", async () => {
    await manager.initialize([
      { ...hostile("exits", "no licence"), id: "bad", name: "bad" },
      { ...hostile("fine"), id: "off", name: "off", enabled: false },
      { ...hostile("fine"), id: "lost", name: "lost", command: "no-such-program" },
      hostile("fine"),
    ]);
    const [bad, fine, lost, off] = manager.getServerStatus();
    expect(bad).toMatchObject({ state: "down", connected: false, errors: [expect.stringContaining("no licence")] });
    expect(fine).toMatchObject({ state: "ready", connected: true, toolCount: 8, errors: [] });
    expect(lost?.errors.join()).toContain('"no-such-program" was not found');
    expect(off).toMatchObject({ state: "disabled", connected: false });
  });

  it("changes in the registry only what changed at the server, and tells of it", async () => {
    await manager.initialize([hostile("fine")]);
    const before = registry.get("hostile_echo");
    await manager.invokeTool("hostile_change", {});
    await vi.waitFor(() => expect(registry.has("hostile_new")).toBe(true), PATIENCE);
    expect(registry.get("hostile_echo")?.hub?.fingerprint).not.toBe(before?.hub?.fingerprint);
    expect(registry.has("hostile_crash")).toBe(false);
    expect(changes.filter(({ kind }) => kind === "tools").at(-1)).toMatchObject({
      serverId: "hostile",
      added: ["hostile_echo", "hostile_new"],
      removed: expect.arrayContaining(["hostile_crash"]),
    });
  });

  it("takes a server's tools away with it, and its process", async () => {
    await manager.addServer(hostile("stays"));
    const pid = Number(await manager.invokeTool("hostile_whoami", {}));
    await manager.removeServer("hostile");
    expect(registry.has("hostile_echo")).toBe(false);
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    await expect(manager.removeServer("hostile")).rejects.toMatchObject({ code: "server_not_found" });
  });

  it("starts a server when one of its tools is first needed, and no other", async () => {
    await manager.setServers([hostile("fine"), { ...hostile("fine"), id: "other", name: "other" }]);
    expect(manager.getServerStatus().map(({ state }) => state)).toEqual(["configured", "configured"]);
    expect([manager.mayHave("hostile_echo"), manager.mayHave("third_echo"), manager.mayHave("hostile")]).toEqual([
      true,
      false,
      false,
    ]);
    await manager.reach(["hostile_echo", "demo::greet"]);
    expect(registry.has("hostile_echo")).toBe(true);
    expect(manager.getServerStatus().map(({ state }) => state)).toEqual(["ready", "configured"]);
    expect(manager.absence("other_echo")).toMatchObject({ code: "server_down" });
  });

  it("leaves alone what goes on as it was, whatever else changes", async () => {
    const other = { ...hostile("fine"), id: "other", name: "other" };
    await manager.initialize([hostile("fine"), other]);
    const before = await manager.invokeTool("hostile_whoami", {});
    const told = changes.length;
    await manager.setServers([
      { ...hostile("fine"), autoApprove: true },
      { ...other, timeoutMs: 5_000 },
    ]);
    expect(await manager.invokeTool("hostile_whoami", {})).toBe(before);
    expect(manager.serverConfig("hostile")?.autoApprove).toBe(true);
    expect(JSON.stringify(changes.slice(told))).not.toContain('"hostile"');
    await vi.waitFor(() => expect(registry.has("other_echo")).toBe(true), PATIENCE);
    await manager.setServers([]);
    expect([manager.getServerStatus(), registry.list()]).toEqual([[], []]);
  });

  it("shows a server that it cannot take in, and takes in the others", async () => {
    await manager.initialize([hostile("fine"), { ...hostile("fine"), id: "twin" }]);
    expect(manager.getServerStatus()).toMatchObject([
      { id: "hostile", state: "ready" },
      { id: "twin", state: "down", errors: [expect.stringContaining("rename one of them")] },
    ]);
  });

  it("keeps no more servers than it can", async () => {
    const many = Array.from({ length: MAX_SERVERS + 1 }, (_, n) => ({
      ...hostile("fine"),
      id: `s${String(n)}`,
      name: `s${String(n)}`,
    }));
    await manager.setServers(many);
    const refused = manager.getServerStatus().filter(({ errors }) => errors.length > 0);
    expect(refused).toMatchObject([
      { id: `s${String(MAX_SERVERS)}`, errors: [expect.stringContaining("one server too many")] },
    ]);
  });

  it("hides credentials in what a server answers, and leaves other values of its configuration", async () => {
    const secrets = ["plain-value", "canary-key"];
    await manager.initialize([{ config: hostile("fine"), secrets, credentials: ["canary-key"] }]);
    const output = await manager.invokeTool("hostile_echo", { key: "canary-key", path: "plain-value" });
    expect(output).toBe('{"key":"[hidden]","path":"plain-value"}');
  });

  it("tells of each call once it is over", async () => {
    await manager.initialize([hostile("fine")]);
    await manager.invokeTool("hostile_echo", { a: 1 });
    await expect(manager.invokeTool("hostile_crash", {})).rejects.toThrow("may have taken effect");
    expect(invoked).toMatchObject([
      { toolName: "hostile_echo", serverId: "hostile", args: { a: 1 }, outcome: { result: '{"a":1}' } },
      { toolName: "hostile_crash", outcome: { error: { code: "outcome_unknown" } } },
    ]);
    expect(invoked[0]?.durationMs).toBeGreaterThan(0);
  });

  it("tells of a call that was cancelled as such", async () => {
    await manager.initialize([hostile("fine")]);
    const gaveUp = new AbortController();
    const calling = manager.invokeTool("hostile_silent", {}, { signal: gaveUp.signal });
    gaveUp.abort();
    await expect(calling).rejects.toMatchObject({ code: "cancelled" });
    expect(invoked).toMatchObject([{ toolName: "hostile_silent", outcome: { error: { code: "cancelled" } } }]);
  });

  it.each([
    ["an id that is taken", { id: "hostile", name: "other" }, "server_duplicate"],
    ["a name that comes to the same", { id: "other", name: "Hostile" }, "server_duplicate"],
    ["a name that is ours", { id: "other", name: "mcp" }, "server_name_invalid"],
    ["no way to reach it", { id: "other", name: "other", command: undefined }, "server_config_invalid"],
  ])("refuses a server with %s, and nothing changes", async (_, change, code) => {
    await manager.addServer(hostile("fine"));
    const { command, ...config } = { ...hostile("fine"), ...change };
    const adding = manager.addServer(command === undefined ? config : { ...config, command });
    await expect(adding).rejects.toMatchObject({ code });
    expect(manager.getServerStatus()).toHaveLength(1);
  });

  it("names the tool that was probably meant", async () => {
    await manager.addServer(hostile("fine"));
    await expect(manager.invokeTool("hostile_ecko", {})).rejects.toThrow('Did you mean "hostile_echo"?');
  });

  it("hides the secrets of a server's configuration wherever the server prints them", async () => {
    const config = { ...hostile("exits", "bad key canary-secret-1"), id: "bad", name: "bad" };
    await manager.initialize([{ config, secrets: ["canary-secret-1"] }]);
    expect(JSON.stringify([manager.getServerStatus(), manager.serverLog("bad"), changes])).not.toContain(
      "canary-secret-1",
    );
    expect(manager.serverLog("bad")).toContain("bad key [hidden]");
  });
});

function stateOf(serverId: string): string | undefined {
  return manager.getServerStatus().find(({ id }) => id === serverId)?.state;
}

const PUBLISHED = {
  filesystem: require.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: require.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
};

function published(name: keyof typeof PUBLISHED, ...args: readonly string[]): MCPServerConfig {
  const file = PUBLISHED[name];
  return { id: name, name, command: process.execPath, args: [file, ...args], enabled: true };
}

function hostile(...args: readonly string[]): MCPServerConfig {
  const file = join(import.meta.dirname, "hostile-server.fixture.ts");
  return { id: "hostile", name: "hostile", command: process.execPath, args: [file, ...args], enabled: true };
}
