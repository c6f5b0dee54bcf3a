import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plainEnvironment, temporaryFolder } from "./ergon.ts";
import { firstToken } from "./owner-access.ts";
import { leaveNothingOn, processesOn, until } from "./processes.ts";
import { serveFolder } from "./served.ts";
import { hold, readAttempts, release, WORK } from "./work-log.ts";

const root = join(import.meta.dirname, "../..");

describe("SIGTERM to a server with a run under way", () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let data: string;
  let log: string;
  beforeEach(() => {
    folder = temporaryFolder();
    data = join(folder.path, "data");
    log = join(folder.path, "log");
    mkdirSync(log);
  });
  afterEach(() => {
    try {
      leaveNothingOn(folder.path);
    } finally {
      folder.remove();
    }
  });

  it.each([
    ["npm start", ["npm", "--silent", "start", "--"], "parent"],
    ["npx ergon serve", ["npx", "ergon", "serve"], "parent"],
    ["npx ergon serve, sent to the server's own pid", ["npx", "ergon", "serve"], "server"],
  ] as const)(
    "%s: leaves nothing running, and the run is taken up",
    async (_name, command, target) => {
      const flags = ["--port", "0", "--data", data, "--capabilities", WORK];
      const parent = begin([...command, ...flags]);
      const { pid, url } = await listening();
      const token = firstToken(data);
      const sessionId = await startChain(url, token);
      await until("the second step is under way", () => readAttempts(log).some(({ label }) => label === "two"));

      const ended = once(parent, "close");
      process.kill(target === "parent" ? Number(parent.pid) : pid, "SIGTERM");
      await ended;
      await until("nothing is left running", () => processesOn(data).length === 0);

      release(log, "before two");
      expect(await take(sessionId)).toBe("completed");
      const done = readAttempts(log).map(({ label }) => label);
      expect(done.filter((label) => label === "one")).toHaveLength(1);
      expect(done.at(-1)).toBe("three");
    },
    180_000,
  );

  function begin([command = "", ...args]: readonly string[]): ChildProcess {
    const env = { ...plainEnvironment(), WORK_LOG: log };
    return spawn(command, args, { cwd: root, env, stdio: "ignore" });
  }

  async function listening(): Promise<{ readonly pid: number; readonly url: string }> {
    const file = join(data, "server.json");
    const read = (): { pid?: number; url?: string } =>
      existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { pid?: number; url?: string }) : {};
    await until("the server listens", () => read().url !== undefined);
    const { pid, url } = read();
    return { pid: Number(pid), url: String(url) };
  }

  async function startChain(url: string, token: string): Promise<string> {
    hold(log, "before two");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const made = await fetch(new URL("/sessions", url), { method: "POST", headers, body: "{}" });
    const { sessionId } = (await made.json()) as { sessionId: string };
    const body = JSON.stringify({ planId: "chain", input: { ms: 0, labels: ["one", "two", "three"] } });
    const path = `/sessions/${sessionId}/execute-plan`;
    expect((await fetch(new URL(path, url), { method: "POST", headers, body })).status).toBe(202);
    return sessionId;
  }

  /** The next server goes on with what was left. */
  async function take(sessionId: string): Promise<string> {
    const next = await serveFolder(data, { cwd: folder.path, args: ["--capabilities", WORK], env: { WORK_LOG: log } });
    const headers = { authorization: `Bearer ${next.token}`, prefer: "wait=30" };
    const answer = await fetch(new URL(`/sessions/${sessionId}?view=core`, next.url), { headers });
    const { core } = (await answer.json()) as { core: { status: string } };
    await next.stop("SIGTERM");
    return core.status;
  }
});
