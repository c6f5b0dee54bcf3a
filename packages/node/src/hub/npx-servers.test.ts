import { globSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import type { McpConnection } from "@ergon/core/hub";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createMcpConnector } from "./connection/connector.ts";

/** `npm run test:long` shows that a hundred leave nothing behind either. */
const CYCLES = process.env["ERGON_LONG"] === "1" ? 100 : 4;
const PATIENCE = { timeout: 60_000, interval: 20 };
/** Where `npx` finds the published servers without asking the network. */
const workspace = join(import.meta.dirname, "../../../..");

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "ergon-npx-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe.runIf(process.platform === "linux")("a server that npx starts", { timeout: 60_000 * CYCLES }, () => {
  it(`leaves no process behind in ${String(CYCLES)} starts, stops and crashes`, async () => {
    const connector = createMcpConnector({ logger: silentLogger });
    const left: string[] = [];
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      const connection = connector.open({
        config: {
          id: "memory",
          name: "memory",
          command: "npx",
          // The folder in its arguments is what its processes are found by.
          args: ["--offline", "--no", "mcp-server-memory", folder],
          cwd: workspace,
          enabled: true,
        },
        secrets: [],
        onChange: () => undefined,
      });
      connection.start();
      await connection.settled();
      expect(connection.report()).toMatchObject({ state: "ready", errors: [] });
      expect(processes().length).toBeGreaterThan(1);
      await WAYS[cycle % WAYS.length]?.(connection);
      left.push(...processes().map(({ command }) => command));
    }
    expect(left).toEqual([]);
  });
});

/** How a server's life ends. */
const WAYS: readonly ((connection: McpConnection) => Promise<void>)[] = [
  (connection) => connection.stop(),
  // The program crashes, and comes back before it is stopped.
  async (connection) => {
    kill((all) => all.at(-1));
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    connection.wake();
    await vi.waitFor(() => expect(connection.report().state).toBe("ready"), PATIENCE);
    await connection.stop();
  },
  // npx itself is killed: what it started must go with it.
  async (connection) => {
    kill((all) => all[0]);
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    await connection.stop();
  },
  // Stopped while it starts again.
  async (connection) => {
    kill((all) => all.at(-1));
    await vi.waitFor(() => expect(connection.report().state).toBe("down"), PATIENCE);
    connection.wake();
    await connection.stop();
  },
];

type Process = { readonly pid: number; readonly command: string };

function kill(choose: (all: readonly Process[]) => Process | undefined): void {
  const chosen = choose(processes());
  if (chosen !== undefined) process.kill(chosen.pid, "SIGKILL");
}

/** Oldest first. */
function processes(): Process[] {
  const found = globSync("/proc/[0-9]*/cmdline").flatMap((file) => {
    try {
      const command = readFileSync(file, "utf8").replaceAll("\0", " ");
      return command.includes(folder) ? [{ pid: Number(file.split("/")[2]), command }] : [];
    } catch {
      return [];
    }
  });
  return found.sort((a, b) => a.pid - b.pid);
}
