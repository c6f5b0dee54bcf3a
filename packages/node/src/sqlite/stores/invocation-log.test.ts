import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createSystemClock, silentLogger } from "@ergon/core";
import type { HubInvocation } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hideInValue } from "../../hub/call/hide-secrets.ts";
import { type InvocationLog, MAX_KEPT_CHARS, MAX_KEPT_INVOCATIONS, openInvocationLog } from "./invocation-log.ts";
import { LEARNED_CALLS } from "./learned-costs.ts";

let folder: string;
let path: string;
let log: InvocationLog;
const clock = createSystemClock();
const hide = hideInValue(() => ["canary-secret"]);
const open = () => openInvocationLog({ path, clock, logger: silentLogger, hide: (_, value) => hide(value) });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ergon-log-"));
  path = join(folder, "hub.db");
  log = open();
});
afterEach(async () => {
  await log.close();
  await rm(folder, { recursive: true, force: true });
});

function call(durationMs: number, more: Partial<HubInvocation> = {}): HubInvocation {
  const energyUnits = durationMs / 500;
  const base = { toolName: "a_read", serverId: "a", atMs: clock.now(), args: { path: "x" }, durationMs, energyUnits };
  return { ...base, outcome: { result: "fine" }, ...more };
}
const failed = (code: string) => ({ outcome: { error: { code, message: `It is ${code}.`, retryable: false } } });

/** What lies on the disk, as spec 5 names it. */
async function rows<T>(sql: string): Promise<T[]> {
  await log.stats();
  await log.close();
  const db = new DatabaseSync(path, { readOnly: true });
  const found = db.prepare(sql).all() as T[];
  db.close();
  log = open();
  return found;
}

describe("the log of calls of servers' tools", () => {
  it("keeps spec 5's columns of each call and the totals of each server", async () => {
    await log.noteServers([{ id: "a", name: "A", command: "x", enabled: true }]);
    log.add(call(500, { sessionId: "s1", conversationId: "c1" }));
    log.add(call(10, failed("server_down")));
    const [first, second] = await rows<Record<string, unknown>>("SELECT * FROM mcp_tool_invocations ORDER BY id");
    expect(first).toMatchObject({
      tool_name: "a_read",
      server_id: "a",
      conversation_id: "c1",
      session_id: "s1",
      parameters: '{"path":"x"}',
      result: '"fine"',
      energy_consumed: 1,
      success: 1,
      error: null,
    });
    expect(second).toMatchObject({ result: null, success: 0, error: "It is server_down.", error_code: "server_down" });
    expect(await rows("SELECT * FROM mcp_servers")).toMatchObject([
      { id: "a", name: "A", enabled: 1, total_invocations: 2, total_failures: 1, last_used: expect.any(String) },
    ]);
  });

  it("keeps what a server did that is there no more, as one that is switched off", async () => {
    const server = (id: string) => ({ id, name: id, command: "x", enabled: true });
    await log.noteServers([server("a"), server("b")]);
    await log.noteServers([server("b")]);
    expect((await log.stats()).servers).toMatchObject([
      { id: "a", enabled: false },
      { id: "b", enabled: true },
    ]);
  });

  it("tells times, energy and errors by tool, failures not counted as times", async () => {
    for (let ms = 1; ms <= 100; ms += 1) log.add(call(ms));
    log.add(call(9_000, failed("server_busy")));
    log.add(call(9_000, failed("server_busy")));
    const { tools } = await log.stats();
    expect(tools).toMatchObject([
      { tool: "a_read", serverId: "a", calls: 102, failures: 2, p50Ms: 50, p95Ms: 95, p50Energy: 0.1, p95Energy: 0.19 },
    ]);
    expect(tools[0]?.errors).toEqual({ server_busy: 2 });
    expect(tools[0]?.successRate).toBeCloseTo(100 / 102);
  });

  it("learns what a call usually costs, over restarts, from the newest calls alone", async () => {
    expect(log.usualUnits("a_read")).toBeUndefined();
    for (let n = 0; n < LEARNED_CALLS; n += 1) log.add(call(500));
    expect(log.usualUnits("a_read")).toBe(1);
    await log.close();
    log = open();
    expect(log.usualUnits("a_read")).toBe(1);
    for (let n = 0; n < LEARNED_CALLS; n += 1) log.add(call(1_000));
    expect(log.usualUnits("a_read")).toBe(2);
    log.add(call(60_000, failed("tool_timeout")));
    expect(log.usualUnits("a_read")).toBe(2);
  });

  it("keeps no secrets: neither those it was told of nor what is named like one", async () => {
    const args = { note: "canary-secret", password: "hunter22", header: "Bearer abcdefghijkl" };
    log.add(call(1, { args, outcome: { result: { said: "canary-secret" } } }));
    log.add(call(1, { outcome: { error: { code: "x", message: "bad canary-secret", retryable: false } } }));
    const text = JSON.stringify(await rows("SELECT * FROM mcp_tool_invocations"));
    for (const secret of ["canary-secret", "hunter22", "abcdefghijkl"]) expect(text).not.toContain(secret);
    expect((await readFile(path)).includes("canary-secret")).toBe(false);
  });

  it("cuts what is long and names the blob that has it whole", async () => {
    const result = "y".repeat(100_000);
    log.add(call(1, { outcome: { result } }));
    log.add(call(1, { outcome: { result: "y".repeat(MAX_KEPT_CHARS - 2) } }));
    const [long, short] = await rows<{ result: string; result_blob: string | null }>(
      "SELECT result, result_blob FROM mcp_tool_invocations ORDER BY id",
    );
    expect(long?.result.length).toBeLessThan(MAX_KEPT_CHARS + 50);
    expect(long?.result_blob).toMatch(/^[0-9a-f]{64}$/);
    expect(short).toMatchObject({ result: `"${"y".repeat(MAX_KEPT_CHARS - 2)}"`, result_blob: null });
  });

  it("forgets what is old, and what is too much", { timeout: 60_000 }, async () => {
    log.add(call(1, { atMs: Date.UTC(2000, 0, 1), toolName: "a_old" }));
    for (let n = 0; n < MAX_KEPT_INVOCATIONS + 1_500; n += 1) log.add(call(1));
    const [counted] = await rows<{ n: number; old: number }>(
      "SELECT count(*) AS n, sum(tool_name = 'a_old') AS old FROM mcp_tool_invocations",
    );
    expect(counted?.n).toBeLessThanOrEqual(MAX_KEPT_INVOCATIONS + 1_000);
    expect(counted?.old).toBe(0);
  });
});
