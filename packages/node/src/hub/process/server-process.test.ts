import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createGuard } from "../connection/guard.ts";
import { startServerProcess, type ServerCommand } from "./server-process.ts";

const node = process.execPath;
const quiet = { env: {} };
const PATIENCE = { timeout: 20_000, interval: 20 };

/** Ignores the end of its input and every polite signal, and has a child that does the same. */
const STUBBORN = `
  const { spawn } = require("node:child_process");
  process.on("SIGTERM", () => {});
  setInterval(() => {}, 1000);
  if (process.argv[1] !== "child") {
    const child = spawn(process.execPath, ["-e", process.env.SCRIPT, "child"], { stdio: "ignore", env: process.env });
    console.log(child.pid);
  }`;
const stubborn: ServerCommand = { command: node, args: ["-e", STUBBORN], env: { SCRIPT: STUBBORN } };

/** Has a child in a session of its own, which ignores polite signals. */
const RUNAWAY = `
  const { spawn } = require("node:child_process");
  const script = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", script], { stdio: "ignore", detached: true });
  console.log(child.pid);
  process.stdin.on("end", () => process.exit(0)).resume();`;
const runaway: ServerCommand = { command: node, args: ["-e", RUNAWAY], ...quiet };

// Ending what does not want to end takes the grace that it is given.
vi.setConfig({ testTimeout: 60_000 });

describe("a server's process", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "ergon-server-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("talks over its pipes and ends when its input does", async () => {
    const script = "process.stdin.on('data', (data) => process.stdout.write(data)).on('end', () => process.exit(3))";
    const server = await startServerProcess({ command: node, args: ["-e", script], ...quiet }, createGuard());
    server.stdin.write("hello\n");
    expect(await firstLine(server.stdout)).toBe("hello");
    await server.end();
    expect(await server.ended).toBe("it exited with code 3");
    expect(isAlive(server.pid)).toBe(false);
  });

  it("is ended with its whole group, however stubborn they are", async () => {
    const server = await startServerProcess(stubborn, createGuard());
    const child = Number(await firstLine(server.stdout));
    expect(isAlive(child)).toBe(true);
    await server.end();
    expect([isAlive(server.pid), isAlive(child)]).toEqual([false, false]);
  });

  it("takes its children along when it crashes", async () => {
    const server = await startServerProcess(stubborn, createGuard());
    const child = Number(await firstLine(server.stdout));
    process.kill(server.pid, "SIGKILL");
    expect(await server.ended).toBe("it was ended by SIGKILL");
    expect(isAlive(child)).toBe(false);
  });

  it.runIf(process.platform === "linux")(
    "takes along what left its group, when it is ended and when it crashes",
    async () => {
      for (const how of ["end", "crash"] as const) {
        const server = await startServerProcess(runaway, createGuard());
        const child = Number(await firstLine(server.stdout));
        expect(isAlive(child)).toBe(true);
        if (how === "end") await server.end();
        else process.kill(server.pid, "SIGKILL");
        await server.ended;
        expect([how, isAlive(child)]).toEqual([how, false]);
      }
    },
  );

  it.runIf(process.platform === "linux")("leaves what other servers started alone", async () => {
    const guard = createGuard();
    const [one, other] = [await startServerProcess(runaway, guard), await startServerProcess(runaway, guard)];
    const children = [Number(await firstLine(one.stdout)), Number(await firstLine(other.stdout))];
    await one.end();
    expect(children.map(isAlive)).toEqual([false, true]);
    await other.end();
  });

  it("says what is wrong with a command that does not exist", async () => {
    const server = await startServerProcess({ command: "no-such-program", args: [], ...quiet }, createGuard());
    expect(await server.ended).toBe('its command "no-such-program" was not found');
  });

  it("passes arguments on as they are, with no shell between", async () => {
    const odd = ["$(touch made)", "a b", "'", '"', "*", ";", "-c"];
    const script = "console.log(JSON.stringify(process.argv.slice(1)))";
    const args = ["-e", script, "--", ...odd];
    const server = await startServerProcess({ command: node, args, env: {}, cwd: folder }, createGuard());
    expect(JSON.parse(await firstLine(server.stdout))).toEqual(odd);
    await server.ended;
  });

  it("sees of the environment only what it needs and what it was given", async () => {
    vi.stubEnv("SECRET_OF_ERGON", "canary");
    try {
      const script = "console.log(JSON.stringify(process.env))";
      const server = await startServerProcess(
        { command: node, args: ["-e", script], env: { GIVEN: "1" } },
        createGuard(),
      );
      const env = JSON.parse(await firstLine(server.stdout)) as Record<string, string>;
      expect(env).toMatchObject({ GIVEN: "1", PATH: process.env["PATH"] });
      expect(Object.keys(env)).not.toContain("SECRET_OF_ERGON");
      await server.ended;
    } finally {
      vi.unstubAllEnvs();
    }
  });

  const outlived: readonly (readonly [string, ServerCommand])[] = [
    ["its group", stubborn],
    ["what left its group", runaway],
  ];
  it.each(process.platform === "linux" ? outlived : outlived.slice(0, 1))(
    "does not outlive a process that was killed, nor does %s",
    async (_, command) => {
      const parent = spawn(node, [join(import.meta.dirname, "server-process.fixture.ts"), JSON.stringify(command)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const pids = JSON.parse(await firstLine(parent.stdout)) as number[];
      expect(pids.map(isAlive)).toEqual([true, true]);
      parent.kill("SIGKILL");
      await once(parent, "exit");
      await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]), PATIENCE);
    },
  );

  it("is guarded by another guard when something ended the first", async () => {
    const guard = createGuard();
    const server = await startServerProcess(stubborn, guard);
    await firstLine(server.stdout);
    const before = guardsOf(process.pid);
    for (const pid of before) process.kill(pid, "SIGKILL");
    await vi.waitFor(
      () => expect(guardsOf(process.pid).filter((pid) => !before.includes(pid))).not.toEqual([]),
      PATIENCE,
    );
    await server.end();
  });
});

async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  await sleep(0);
  return text;
}

/** A zombie is dead, though its number is still taken. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${String(pid)}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function guardsOf(parent: number): number[] {
  const children = readFileSync(`/proc/${String(parent)}/task/${String(parent)}/children`, "utf8")
    .trim()
    .split(" ");
  return children.map(Number).filter((pid) => {
    try {
      return pid > 0 && readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").includes("while read -r sign group");
    } catch {
      return false;
    }
  });
}
