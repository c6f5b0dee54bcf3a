import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { silentLogger } from "@ergon/core";
import { backoffMs, type McpConnection } from "@ergon/core/hub";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createCallSlots, HUB_SLOTS, SERVER_SLOTS } from "../call/call-slots.ts";
import type { ServerAddress } from "./connect-server.ts";
import { createGuard } from "./guard.ts";
import { MAX_SERVER_TOOLS } from "./list-tools.ts";
import { MAX_BAD_LINES, MAX_FRAME_BYTES } from "../transport/pipe-transport.ts";
import { createServerConnection, STAYED_UP_MS, type ServerConnectionDeps } from "./server-connection.ts";

const PATIENCE = { timeout: 30_000, interval: 20 };
const guard = createGuard();
const open: McpConnection[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connection) => connection.stop()));
});

vi.setConfig({ testTimeout: 60_000 });

describe("a connection to a server", () => {
  it.each([
    ["everything", ["@modelcontextprotocol/server-everything/dist/index.js"], "echo"],
    ["memory", ["@modelcontextprotocol/server-memory/dist/index.js"], "read_graph"],
  ])("lists and calls the tools of the published server %s", async (_, [file = ""], known) => {
    const connection = started(script(require.resolve(file)));
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "legacy", errors: [] });
    expect(connection.report().tools.map(({ name }) => name)).toContain(known);
    const result = await connection.call({ name: known, args: known === "echo" ? { message: "hello" } : {} });
    expect(JSON.stringify(result)).toContain(known === "echo" ? "hello" : "entities");
  });

  it("speaks the newer protocol with a server that does", async () => {
    const connection = started(script(join(import.meta.dirname, "../modern-server.fixture.ts")));
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "modern", version: "2.0.0" });
    expect(await connection.call({ name: "add", args: { a: 2, b: 3 } })).toMatchObject({
      structuredContent: { sum: 5 },
    });
  });

  it("greets a server the old way that ends when it is asked for its era", async () => {
    const connection = started(hostile("dies-when-asked"));
    await connection.settled();
    expect(connection.report()).toMatchObject({ state: "ready", protocol: "legacy" });
  });

  it("passes over lines that a server prints by mistake", async () => {
    const connection = started(hostile("noisy"));
    await connection.settled();
    expect(await connection.call({ name: "echo", args: { a: 1 } })).toMatchObject({ content: [{ text: '{"a":1}' }] });
  });

  it("says why a server does not start, in its own words, and when it is tried again", async () => {
    const connection = started(hostile("exits", "no licence"));
    await connection.settled();
    const { state, errors, nextTryAt } = connection.report();
    expect(state).toBe("down");
    expect(errors.join()).toMatch(/exited with code 7; it said: no licence/);
    expect(Date.parse(nextTryAt ?? "")).toBeGreaterThan(Date.now() - 1_000);
    await expect(connection.call({ name: "echo", args: {} })).rejects.toMatchObject({
      code: "server_down",
      retryable: true,
      message: expect.stringContaining("no licence"),
    });
  });

  it("starts a server again that crashed in a call, and the call fails", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    const before = await whoami(connection);
    await expect(connection.call({ name: "crash", args: {} })).rejects.toMatchObject({ code: "answer_lost" });
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    connection.wake();
    await vi.waitFor(() => expect(connection.report().state).toBe("ready"), PATIENCE);
    expect(await whoami(connection)).not.toBe(before);
    expect(connection.report().errors.join()).toContain("exited with code 9");
  });

  it("tries a server that falls soon after each start after ever longer pauses, and one that stayed up soon (C2)", async () => {
    // It stands still but for what the test adds to it.
    vi.useFakeTimers({ toFake: ["Date", "performance"] });
    try {
      const connection = started(hostile("falls", "300"));
      const pauseMs = async (): Promise<number> => {
        while (connection.report().nextTryAt === undefined) await sleep(10);
        return Date.parse(connection.report().nextTryAt ?? "") - Date.now();
      };
      const again = async (upMs: number): Promise<void> => {
        connection.wake();
        while (connection.report().state !== "ready") await sleep(10);
        vi.advanceTimersByTime(upMs);
      };
      for (const [failures, upMs] of [
        [1, 0],
        [2, 0],
        [3, STAYED_UP_MS - 1],
        [4, STAYED_UP_MS],
        [1, 0],
      ] as const) {
        const waitMs = await pauseMs();
        expect(waitMs).toBeGreaterThanOrEqual(backoffMs(failures, 1));
        expect(waitMs).toBeLessThanOrEqual(backoffMs(failures, 0));
        await again(upMs);
      }
    } finally {
      vi.useRealTimers();
    }
  });

  describe("that is asked for signs of life", () => {
    const health = { everyMs: 200, timeoutMs: 150, maxMissed: 3 };
    const longMs = health.everyMs * 8;

    it("takes a refusal for one", async () => {
      const connection = started(hostile("no-ping"), { health });
      await connection.settled();
      const before = await whoami(connection);
      await sleep(longMs);
      expect(await whoami(connection)).toBe(before);
      expect(connection.report()).toMatchObject({ state: "ready", errors: [] });
    });

    it("waits for one that is busy with a call, for as long as the call may take", async () => {
      const connection = started(hostile("fine"), { health });
      await connection.settled();
      const before = await whoami(connection);
      const calling = connection.call({ name: "busy", args: { forMs: longMs } });
      await vi.waitFor(() => expect(connection.report().state).toBe("degraded"), PATIENCE);
      expect((await calling).content[0]?.text).toBe(before);
      await vi.waitFor(() => expect(connection.report().state).toBe("ready"), PATIENCE);
      expect(await whoami(connection)).toBe(before);
    });

    it("starts one anew that is silent without a call, or beyond the time limit of its calls", async () => {
      const states: string[] = [];
      const connection = started(hostile("fine"), { health, onChange: ({ state }) => states.push(state) });
      await connection.settled();
      const before = await whoami(connection);
      await connection.call({ name: "mute", args: {} });
      const calling = connection.call({ name: "echo", args: {}, timeoutMs: longMs });
      await expect(calling).rejects.toMatchObject({
        code: "answer_lost",
        message: expect.stringMatching(/timed out/i),
      });
      await vi.waitFor(() => expect(states.at(-1)).toBe("down"), PATIENCE);
      expect(connection.report().errors.join()).toMatch(/did not answer \d+ times in a row/);
      connection.wake();
      await vi.waitFor(() => expect(connection.report().state).toBe("ready"), PATIENCE);
      expect(await whoami(connection)).not.toBe(before);
    });
  });

  it("keeps the tools of a server that is down, so that plans can be checked (C3)", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    await expect(connection.call({ name: "crash", args: {} })).rejects.toMatchObject({ code: "answer_lost" });
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    expect(connection.report().tools.map(({ name }) => name)).toContain("echo");
  });

  it("never brings a server back that was stopped while it waited to be tried again (C1)", async () => {
    const connection = started(hostile("exits"));
    await connection.settled();
    await connection.stop();
    connection.wake();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(connection.report().state).toBe("configured");
  });

  it("gives a call up that is never answered, and the next one works", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    await expect(connection.call({ name: "silent", args: {}, timeoutMs: 200 })).rejects.toMatchObject({
      code: "answer_lost",
    });
    const gaveUp = new AbortController();
    const waits = connection.call({ name: "silent", args: {}, signal: gaveUp.signal });
    gaveUp.abort(new Error("enough"));
    await expect(waits).rejects.toMatchObject({ code: "cancelled" });
    expect(await connection.call({ name: "echo", args: {} })).toBeDefined();
  });

  it("ends a server that sends a message without end, and starts it again", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    await expect(connection.call({ name: "huge", args: {} })).rejects.toMatchObject({
      code: "answer_lost",
      message: expect.stringContaining(`it sent a message of more than ${String(MAX_FRAME_BYTES)} bytes`),
    });
    connection.wake();
    await vi.waitFor(() => {
      connection.wake();
      expect(connection.report().state).toBe("ready");
    }, PATIENCE);
    expect(connection.report().log.join()).toContain(`more than ${String(MAX_FRAME_BYTES)} bytes`);
  });

  it.each([
    [MAX_BAD_LINES, true],
    [MAX_BAD_LINES + 1, false],
  ])("bears with %i lines that are no message: %s", async (lines, bears) => {
    const connection = started(hostile("fine"));
    await connection.settled();
    const calling = connection.call({ name: "garble", args: { lines } });
    if (bears) return expect(await calling).toMatchObject({ content: [{ text: "garbled" }] });
    await expect(calling).rejects.toMatchObject({ code: "answer_lost" });
    expect(connection.report().log.join()).toContain(`${String(lines)} lines that are no message`);
  });

  it("takes a flood of notifications for what it is, and reads the tools once when it is over", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    expect(await connection.call({ name: "flood", args: {} })).toMatchObject({ content: [{ text: "flooded" }] });
    expect(connection.report().state).toBe("ready");
  });

  it("sees tools that changed", async () => {
    const connection = started(hostile("fine"));
    await connection.settled();
    await connection.call({ name: "change", args: {} });
    await vi.waitFor(
      () => expect(connection.report().tools.map(({ name }) => name)).toEqual(["echo", "new"]),
      PATIENCE,
    );
  });

  it("refuses a list of tools that never ends", async () => {
    const connection = started(hostile("endless"));
    await connection.settled();
    expect(connection.report().state).toBe("down");
  });

  it.each([
    [MAX_SERVER_TOOLS, "ready"],
    [MAX_SERVER_TOOLS + 1, "down"],
  ])("of a server with %i tools is %s", async (count, state) => {
    const connection = started(hostile("many", String(count)));
    await connection.settled();
    expect(connection.report().state).toBe(state);
  });

  it("ends a server that does not go by itself", async () => {
    const connection = started(hostile("stays"));
    await connection.settled();
    const pid = Number(await whoami(connection));
    await connection.stop();
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it.each([
    ["hangs at its start", "hangs", "echo"],
    ["never answers", "fine", "silent"],
  ])("of a server that %s keeps no call from another server", async (_, kind, tool) => {
    const hubSlots = createCallSlots("The hub", HUB_SLOTS);
    const other = started(hostile("fine"), { hubSlots });
    await other.settled();
    const hung = started(hostile(kind), { hubSlots });
    if (kind === "fine") await hung.settled();
    const gaveUp = new AbortController();
    const calls = Array.from({ length: HUB_SLOTS.concurrency + 6 }, () =>
      hung.call({ name: tool, args: {}, signal: gaveUp.signal }),
    );
    const ends = Promise.allSettled(calls);
    expect(await other.call({ name: "echo", args: { a: 1 } })).toMatchObject({ isError: false });
    expect(hubSlots.busy().running).toBe(kind === "fine" ? SERVER_SLOTS.concurrency : 0);
    gaveUp.abort();
    expect(new Set((await ends).map(({ status }) => status))).toEqual(new Set(["rejected"]));
    expect(hubSlots.busy()).toEqual({ running: 0, waiting: 0 });
  });

  it("can be stopped while a server hangs at its start", async () => {
    const connection = started(hostile("hangs"));
    await vi.waitFor(() => expect(connection.report().state).toBe("starting"), PATIENCE);
    await connection.stop();
    expect(connection.report().state).toBe("configured");
  });
});

const require = createRequire(import.meta.url);

function script(file: string, ...args: readonly string[]): ServerAddress {
  return { kind: "command", command: process.execPath, args: [file, ...args], env: {} };
}

function hostile(...args: readonly string[]): ServerAddress {
  return script(join(import.meta.dirname, "../hostile-server.fixture.ts"), ...args);
}

function started(address: ServerAddress, change: Partial<ServerConnectionDeps> = {}): McpConnection {
  const connection = createServerConnection({
    serverId: "test",
    address,
    guard,
    logger: silentLogger,
    model: { refusal: "No model is lent here." },
    redact: (text) => text,
    redactValue: (value) => value,
    hubSlots: createCallSlots("The hub", HUB_SLOTS),
    onChange: () => undefined,
    ...change,
  });
  open.push(connection);
  connection.start();
  return connection;
}

async function whoami(connection: McpConnection): Promise<string> {
  const { content } = await connection.call({ name: "whoami", args: {} });
  return content[0]?.text ?? "";
}
