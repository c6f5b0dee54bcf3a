import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "./ergon.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const READERS = 1_000;
const MAX_READERS_COST_MB = 150;

describe("many readers of events", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let server: ServedFolder;
  beforeAll(async () => {
    folder = temporaryFolder();
    server = await serveFolder(join(folder.path, "data"), { cwd: folder.path });
  });
  afterAll(() => folder.remove());

  it(
    `cost little (${READERS} in under ${MAX_READERS_COST_MB} MB), hear what happens, and hold nothing up at the end`,
    { timeout: 60_000 },
    async () => {
      await ask("POST", "/sessions");
      const before = residentMb(server.pid);
      const readers = await Promise.all(Array.from({ length: READERS }, openReader));
      expect((await ask("GET", "/stats"))["eventStreams"]).toBe(READERS);
      await ask("POST", "/sessions");
      await Promise.all(readers.map((reader) => reader.until("event: session-created\n")));
      const cost = residentMb(server.pid) - before;
      expect(cost).toBeLessThan(MAX_READERS_COST_MB);
      const startedMs = performance.now();
      expect(await server.stop("SIGTERM")).toBe(0);
      expect(performance.now() - startedMs).toBeLessThan(5_000);
      for (const reader of readers) reader.socket.destroy();
    },
  );

  async function ask(method: string, path: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${server.token}` };
    return (await (await fetch(new URL(path, server.url), { method, headers })).json()) as Record<string, unknown>;
  }

  /** By hand: a thousand fetches would cost this process more than the server. */
  async function openReader(): Promise<{ readonly socket: Socket; readonly until: (part: string) => Promise<void> }> {
    const { port } = new URL(server.url);
    let received = "";
    let check = (): void => undefined;
    const socket = connect(Number(port), "127.0.0.1");
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.on("data", (chunk) => {
      received += String(chunk);
      check();
    });
    const until = (part: string): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      check = () => {
        if (received.includes(part)) resolve();
      };
      check();
      return promise;
    };
    socket.write(`GET /events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n\r\n`);
    await until("retry:");
    return { socket, until };
  }
});

function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1_024;
}
