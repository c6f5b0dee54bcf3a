import { once } from "node:events";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ergon, finish, start, temporaryFolder } from "./ergon.ts";
import { leaveNothingOn, processesOn, until } from "./processes.ts";
import { serveFolder } from "./served.ts";
import { WORK } from "./work-log.ts";

// The first python on a data folder takes seconds, on a busy machine many.
const PATIENCE = { timeout: 180_000 };

const ENDLESS = `
exports.definition = { id: "endless", description: "Never ends.", parameters: {}, timeoutMs: 600000 };
exports.implementation = (args, run) =>
  run.sandbox.execute({ language: "python", code: "while True: pass", timeoutMs: 600000 });`;

// What a python starts from is the same on every data folder: it is made once.
let made: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  made = temporaryFolder();
});
afterAll(() => made.remove());

let folder: ReturnType<typeof temporaryFolder>;
let env: Readonly<Record<string, string>>;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write({ "tools/endless.tool.js": ENDLESS });
  mkdirSync(join(folder.path, "log"));
  for (const name of ["data", "elsewhere"]) cpSync(made.path, join(folder.path, name, "sandbox"), { recursive: true });
  env = { WORK_LOG: join(folder.path, "log") };
});
afterEach(() => {
  try {
    leaveNothingOn(folder.path);
    if (existsSync(join(data(), "sandbox"))) cpSync(join(data(), "sandbox"), made.path, { recursive: true });
  } finally {
    folder.remove();
  }
});

const data = (): string => join(folder.path, "data");
const compute = (more: Readonly<Record<string, string>> = {}) =>
  ergon(
    [
      "tools",
      "call",
      "work::compute",
      "--args",
      `{"label":"abba"}`,
      "--json",
      "--capabilities",
      WORK,
      "--data",
      data(),
    ],
    {
      cwd: folder.path,
      env: { ...env, ...more },
    },
  );
const LETTERS = [
  ["a", 2],
  ["b", 2],
];
const runtimes = () => processesOn(data()).filter(({ command }) => command.includes("keeper"));

describe("a tool that uses the sandbox", PATIENCE, () => {
  it("gets its answer, and nothing is left of the sandbox when the command ends", async () => {
    const { out, err, code } = await compute();
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(JSON.parse(out)).toEqual({ output: { letters: LETTERS } });
  });

  it("takes code along when its command is interrupted", async () => {
    const args = ["tools", "call", "endless", "--capabilities", join(folder.path, "tools"), "--data", data()];
    const child = start(args, { cwd: folder.path, env });
    const ended = finish(child);
    await until("the code runs", () => runtimes().length > 0);
    child.kill("SIGINT");
    expect((await ended).code).toBe(130);
  });
});

describe("the sandbox service of an owner", PATIENCE, () => {
  it("ends with it, however it ends", async () => {
    const owner = await serveFolder(data(), {
      cwd: folder.path,
      env,
      args: ["--capabilities", join(folder.path, "tools")],
    });
    const headers = { authorization: `Bearer ${owner.token}`, "content-type": "application/json" };
    const call = fetch(`${owner.url}/tools/endless/call`, { method: "POST", headers, body: "{}" });
    const lost = call.then(
      () => "answered",
      () => "lost",
    );
    await until("the code runs", () => runtimes().length > 0);
    await owner.stop("SIGKILL");
    expect(await lost).toBe("lost");
    await until("nothing is left", () => processesOn(folder.path).length === 0);
  });

  it("is started again when it died", async () => {
    const owner = await serveFolder(data(), { cwd: folder.path, env, args: ["--capabilities", WORK] });
    expect(JSON.parse((await compute()).out)).toEqual({ output: { letters: LETTERS } });
    const [service] = processesOn(data()).filter(({ command }) => command.includes("--attached"));
    expect(service).toBeDefined();
    if (service !== undefined) process.kill(service.pid, "SIGKILL");
    expect(JSON.parse((await compute()).out)).toEqual({ output: { letters: LETTERS } });
    expect(await owner.stop("SIGTERM")).toBe(0);
  });
});

describe("ergon sandbox", PATIENCE, () => {
  it("serves others, who find it by address and token", async () => {
    const service = start(["sandbox", "--token", "secret", "--data", join(folder.path, "elsewhere")], {
      cwd: folder.path,
    });
    const ended = once(service, "close");
    const [line] = (await once(createInterface({ input: service.stdout }), "line")) as [string];
    const url = /^ready (http:\/\/127\.0\.0\.1:\d+)$/.exec(line)?.[1] ?? "";
    const there = await compute({ ERGON_SANDBOX_URL: url, ERGON_SANDBOX_TOKEN: "secret" });
    expect(JSON.parse(there.out)).toEqual({ output: { letters: LETTERS } });
    const wrong = await compute({ ERGON_SANDBOX_URL: url, ERGON_SANDBOX_TOKEN: "other" });
    expect(wrong).toMatchObject({ code: 1, out: expect.stringContaining("ERGON_SANDBOX_TOKEN") as string });
    service.kill("SIGTERM");
    await ended;
    expect(service.exitCode).toBe(0);
  });

  it("listens to others than this machine only with a token", async () => {
    const { code, err } = await ergon(["sandbox", "--host", "0.0.0.0"], { cwd: folder.path });
    expect({ code, err }).toEqual({
      code: 2,
      err: "error: Listening on 0.0.0.0 needs a token (--token or ERGON_SANDBOX_TOKEN).\n",
    });
  });
});
