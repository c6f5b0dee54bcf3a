import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Engine } from "@ergon/core/engine";
import { createRemoteEngine, FIRST_PRINCIPAL } from "@ergon/node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ergon, finish, start, temporaryFolder } from "./ergon.ts";
import { ownerAccess } from "./owner-access.ts";
import { leaveNothingOn, processesOn, until } from "./processes.ts";
import { serveFolder } from "./served.ts";
import { readAttempts, WORK } from "./work-log.ts";

// The first python of a user takes seconds, on a busy machine many.
const PATIENCE = { timeout: 180_000 };

const ENDLESS = `
exports.definition = { id: "endless", description: "Never ends.", parameters: {}, timeoutMs: 600000 };
exports.implementation = (args, run) =>
  run.sandbox.execute({ language: "python", code: "while True: pass", timeoutMs: 600000 });`;

// What a python starts from is kept in the user's state folder: it is made once, and shows which runtimes are ours.
let state: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  state = temporaryFolder();
});
afterAll(() => state.remove());

let folder: ReturnType<typeof temporaryFolder>;
let env: Readonly<Record<string, string>>;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write({ "tools/endless.tool.js": ENDLESS });
  mkdirSync(join(folder.path, "log"));
  env = { WORK_LOG: join(folder.path, "log"), XDG_STATE_HOME: state.path };
});
afterEach(() => {
  try {
    leaveNothingOn(folder.path);
    leaveNothingOn(state.path);
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
const runtimes = () => processesOn(state.path).filter(({ command }) => command.includes("keeper"));

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
    await until("nothing is left", () => processesOn(folder.path).length + runtimes().length === 0);
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

const LETTERS_PLAN = {
  planId: "letters",
  description: "Counts the letters of each label in the sandbox, one after the other.",
  parameters: { type: "object", properties: { labels: { type: "array", items: { type: "string" } } } },
  startStepId: "each",
  steps: [
    {
      id: "each",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.labels" },
      itemAlias: "label",
      loopPlan: [
        {
          id: "compute",
          type: "tool_call",
          toolId: "work::compute",
          arguments: { label: { jsonPath: "$.context.label" } },
          saveAs: "counted",
        },
      ],
      nextStepId: "done",
    },
    { id: "done", type: "final_response", message: { jsonPath: "$.context.counted[*].letters" } },
  ],
};

function engineOf(folderOfOwner: string): Engine {
  return createRemoteEngine(ownerAccess(folderOfOwner, env));
}

describe("a plan with sandboxed steps", PATIENCE, () => {
  it("comes to the same when its process is killed in the middle of each", async () => {
    folder.write({ "plans/letters.plan.json": JSON.stringify(LETTERS_PLAN) });
    const args = ["--capabilities", WORK, "--capabilities", join(folder.path, "plans")];
    const labels = ["a", "bb", "ccc"];
    const session = { owner: FIRST_PRINCIPAL, sessionId: "ses_letters" };
    const attempts = () => readAttempts(env["WORK_LOG"] ?? "").filter(({ tool }) => tool === "compute");
    for (const [n, label] of labels.entries()) {
      const owner = await serveFolder(data(), { cwd: folder.path, env, args });
      const engine = engineOf(data());
      if (n === 0) await engine.executePlan({ ...session, plan: "letters", input: { labels }, create: true });
      await until(`"${label}" is under way`, () => attempts().some((attempt) => attempt.label === label));
      await owner.stop("SIGKILL");
    }
    const owner = await serveFolder(data(), { cwd: folder.path, env, args });
    const engine = engineOf(data());
    expect(await engine.settled({ ...session, timeoutMs: PATIENCE.timeout })).toMatchObject({ status: "completed" });
    const { history, context } = await engine.readSession(session);
    const results = labels.map((label) => ({ output: { letters: [[label[0], label.length]] } }));
    expect(history.map(({ result }) => result)).toEqual(results);
    expect(context["counted"]).toEqual(results.map(({ output }) => output));
    // Each was cut off, and made again under the key that it had.
    const keys = attempts().map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(new Set(keys).size);
    expect(new Set(keys).size).toBe(labels.length);
    expect(await owner.stop("SIGTERM")).toBe(0);
  });
});

describe("ergon sandbox", PATIENCE, () => {
  it("serves others, who find it by address and token", async () => {
    const service = start(["sandbox", "--token", "secret", "--data", join(folder.path, "elsewhere")], {
      cwd: folder.path,
      env,
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
      err: "error: Listening on 0.0.0.0 needs a token (--token-file or ERGON_SANDBOX_TOKEN).\n",
    });
  });
});
