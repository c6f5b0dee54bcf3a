import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, finish, start, temporaryFolder } from "./ergon.ts";
import { leaveNothingOn, until } from "./processes.ts";
import { serveFolder, type ServedFolder } from "./served.ts";
import { type Attempt, hold, readAttempts, readSent, release, WORK } from "./work-log.ts";

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

const LABELS = ["one", "two", "three", "four", "five"];

describe("a command beside the process that owns the folder", () => {
  it("works through it", async () => {
    const owner = await serve();
    const answer = await run("run", "chain", "--input", chain(), "--json");
    expect(answer, answer.err).toMatchObject({ code: 0 });
    const { sessionId, core } = JSON.parse(answer.out) as Reported;
    expect(core.status).toBe("completed");
    expect(pids()).toEqual([owner.pid]);
    await run("tools", "call", "work::book", "--args", `{"label": "called"}`);
    expect(attempts("called")).toMatchObject([{ pid: owner.pid }]);
    const listed = JSON.parse((await run("sessions", "list", "--json")).out) as { items: { sessionId: string }[] };
    expect(listed.items.map((item) => item.sessionId)).toContain(sessionId);
    expect(JSON.parse((await run("sessions", "show", sessionId, "--json")).out)).toMatchObject({ core });
    expect(await owner.stop("SIGTERM")).toBe(0);
    expect(JSON.parse((await run("sessions", "show", sessionId, "--json")).out)).toMatchObject({ core });
  });

  it("shows what the owner's tools do while they do it", async () => {
    const owner = await serve();
    const { out, err, code } = await run("run", "chain", "--input", chain());
    expect(code).toBe(0);
    expect(out).toMatch(/^session ses_\w+\n\[\n {2}"one",/);
    expect(err.match(/✓ book/g)).toHaveLength(LABELS.length);
    await owner.stop("SIGTERM");
  });

  it("says that the owner does not have the folders that it names itself", async () => {
    const owner = await serve();
    folder.write({
      "mine/x.tool.ts": `export const definition = { id: "mine::x", description: "X.", parameters: { type: "object" } };
export const implementation = () => 1;`,
      "mine/x.plan.json": planOf("x", "mine::x"),
    });
    for (const words of [
      ["tools", "call", "mine::x"],
      ["run", "x"],
    ]) {
      const { err, code } = await run(...words, "--capabilities", join(folder.path, "mine"));
      expect(code).toBe(2);
      expect(err).toContain(`There is no tool "mine::x"`);
      expect(err).toContain(`The process at ${owner.url} owns ${data}`);
    }
    expect(await owner.stop("SIGTERM")).toBe(0);
  });

  it("is refused when it would own the folder itself", async () => {
    const owner = await serve();
    const { err, code } = await run("serve", "--port", "0");
    expect(code).toBe(1);
    expect(err).toContain(`is owned by pid ${String(owner.pid)} at ${owner.url}`);
    expect(await owner.stop("SIGTERM")).toBe(0);
  });
});

describe("an owner that is ended by SIGKILL in the middle of a run", () => {
  it("is followed by the process that waits for it, and no step that was done is done again", async () => {
    const owner = await serve();
    hold(log, "before three");
    const following = begin("run", "chain", "--input", chain());
    // A start that was not answered yet is of unknown outcome: the run may be ahead of the disk, and so of the answer.
    const answered = once(following.child.stdout, "data");
    await until("the owner has begun the third step", () => attempts("three").length > 0);
    await answered;
    await owner.stop("SIGKILL");
    release(log, "before three");
    const { out, err, code } = await following.ended;
    expect({ code }, err).toEqual({ code: 0 });
    expect(out).toMatch(/^session (ses_\w+)\n\[\n {2}"one",\n {2}"two",\n {2}"three",\n {2}"four",\n {2}"five"\n\]\n$/);
    expect(err.match(/✓ book/g), "each step is shown once").toHaveLength(LABELS.length);
    expect(attempts("one", "two").map(({ pid }) => pid)).toEqual([owner.pid, owner.pid]);
    expect(attempts("four", "five").map(({ pid }) => pid)).toEqual([following.pid, following.pid]);
    const third = attempts("three");
    expect(third.map(({ pid }) => pid)).toEqual([owner.pid, following.pid]);
    expect(new Set(third.map(({ key }) => key)).size, "it was tried again under its own key").toBe(1);
    await expectHistory(out, LABELS);
  });

  it("leaves a question to a person, who answers without it", async () => {
    const owner = await serve();
    const asked = await run("run", "letter", "--input", `{"ms": 0}`);
    expect(asked.code).toBe(3);
    await owner.stop("SIGKILL");
    const answer = await run("resume", sessionIn(asked.out), "--input", `"hello"`, "--json");
    expect(answer, answer.err).toMatchObject({ code: 0 });
    expect(JSON.parse(answer.out)).toMatchObject({ finalResponse: "Sent: hello" });
  });

  it("leaves a call that nobody may repeat to a person, too", async () => {
    const owner = await serve();
    const asked = await run("run", "letter", "--input", `{"ms": 0}`);
    const sessionId = sessionIn(asked.out);
    hold(log, "after hello");
    const answering = begin("resume", sessionId, "--input", `"hello"`);
    await until("the letter is on its way", () => readSent(log).length > 0);
    await owner.stop("SIGKILL");
    const { out, err, code } = await answering.ended;
    expect({ code }, err).toEqual({ code: 4 });
    expect(out).toMatch(/outcome_unknown at send: "work::send" was called and the process ended/);
    const silent = await run("resume", sessionId);
    expect(silent).toMatchObject({ code: 2, err: expect.stringContaining('{"happened": its result}') as string });
    const settled = await run("resume", sessionId, "--input", `{"happened": {"sent": "hello"}}`, "--json");
    expect(settled, settled.err).toMatchObject({ code: 0 });
    expect(JSON.parse(settled.out)).toMatchObject({ finalResponse: "Sent: hello" });
    expect(attempts("hello")).toHaveLength(1);
  });

  it("leaves a session that a bare resume takes up and follows to its end", async () => {
    hold(log, "before three");
    const killed = begin("run", "chain", "--input", chain());
    await until("the third step has begun", () => attempts("three").length > 0);
    killed.child.kill("SIGKILL");
    const { out } = await killed.ended;
    release(log, "before three");
    const passing = await withoutTools("run", "welcome_team", "--input", `{"names": ["Ada"]}`);
    expect(passing, passing.err).toMatchObject({ code: 0 });
    expect(passing.err).toMatch(/is left as it is. Its plan needs ..work::book/);
    const resumed = await run("resume", sessionIn(out), "--json");
    expect(resumed, resumed.err).toMatchObject({ code: 0 });
    expect(JSON.parse(resumed.out)).toMatchObject({ finalResponse: LABELS });
    expect(attempts("one", "two")).toHaveLength(2);
    expect(await run("resume", sessionIn(out))).toMatchObject({ code: 1 });
  });

  it("does not keep its client's other commands from the folder", async () => {
    const owner = await serve();
    const asked = await run("run", "letter", "--input", `{"ms": 0}`);
    await owner.stop("SIGKILL");
    const cancelled = await run("cancel", sessionIn(asked.out));
    expect(cancelled).toMatchObject({ code: 0, out: `session ${sessionIn(asked.out)} cancelled\n` });
    expect(await run("cancel", sessionIn(asked.out))).toMatchObject({ code: 1 });
  });
});

describe("an owner that is asked to stop", () => {
  it("lets the call under way end, hands the rest over and exits with 0", async () => {
    const owner = await serve();
    hold(log, "before two");
    const following = begin("run", "chain", "--input", chain());
    await until("the owner has begun the second step", () => attempts("two").length > 0);
    const stopped = owner.stop("SIGTERM");
    await leaving();
    release(log, "before two");
    expect(await stopped).toBe(0);
    const { out, err, code } = await following.ended;
    expect({ code }, err).toEqual({ code: 0 });
    expect(
      attempts(...LABELS).map(({ label }) => label),
      "each step is tried once",
    ).toEqual(LABELS);
    expect(attempts("two")).toMatchObject([{ pid: owner.pid }]);
    expect(attempts("five")).toMatchObject([{ pid: following.pid }]);
    await expectHistory(out, LABELS);
  });

  it("does not wait for a call that does not end, and the next owner makes it again", async () => {
    const owner = await serve();
    hold(log, "before endless");
    const following = begin("run", "chain", "--input", `{"ms": 0, "labels": ["endless"]}`);
    await until("the call is under way", () => attempts("endless").length > 0);
    following.child.kill("SIGKILL");
    await following.ended;
    expect(await owner.stop("SIGTERM")).toBe(0);
    const [first] = attempts("endless");
    const next = await serve();
    await until("it is made again", () => attempts("endless").length > 1);
    expect(attempts("endless")).toEqual([first, { ...first, pid: next.pid, at: expect.any(String) as string }]);
    const { items } = JSON.parse((await run("sessions", "list", "--json")).out) as { items: Reported["core"][] };
    expect(items).toMatchObject([{ status: "running" }]);
    expect((await run("cancel", items[0]?.sessionId ?? "")).code).toBe(0);
    expect(await next.stop("SIGTERM")).toBe(0);
  });

  it("makes room for the next one, which may be started before it has gone", async () => {
    const owner = await serve();
    hold(log, "before one");
    const following = begin("run", "chain", "--input", chain());
    await until("a call is under way", () => attempts("one").length > 0);
    following.child.kill("SIGKILL");
    await following.ended;
    const stopped = owner.stop("SIGTERM");
    await leaving();
    const starting = serve();
    release(log, "before one");
    const next = await starting;
    expect(await stopped).toBe(0);
    await until("the next has finished it", () => attempts("five").length > 0);
    expect(attempts("one")).toMatchObject([{ pid: owner.pid }]);
    expect(attempts("two", "five")).toMatchObject([{ pid: next.pid }, { pid: next.pid }]);
    expect(await next.stop("SIGTERM")).toBe(0);
  });
});

describe("runs that begin at the same moment on a fresh folder", () => {
  it("all complete, one process owning the folder at a time", async () => {
    const runs = ["a", "b", "c"].map((name) => begin("run", "chain", "--input", chain(name), "--json"));
    const answers = await Promise.all(runs.map(({ ended }) => ended));
    for (const [n, answer] of answers.entries()) {
      expect(answer, answer.err).toMatchObject({ code: 0 });
      const { finalResponse } = JSON.parse(answer.out) as Reported;
      expect(finalResponse).toEqual(LABELS.map((label) => `${["a", "b", "c"][n] ?? ""} ${label}`));
    }
    expect(existsSync(join(data, "server.json"))).toBe(false);
    const listed = JSON.parse((await run("sessions", "list", "--json")).out) as { items: Reported["core"][] };
    expect(listed.items.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  });

  it("outlive the one among them that owns the folder", async () => {
    hold(log, "before short");
    hold(log, "before one");
    const short = begin("run", "chain", "--input", `{"ms": 0, "labels": ["short"]}`, "--json");
    await until("the first owns the folder", () => attempts("short").length > 0);
    const long = begin("run", "chain", "--input", chain(), "--json");
    await until("it works for the second", () => attempts("one").length > 0);
    release(log, "before short");
    await leaving();
    release(log, "before one");
    const [first, second] = await Promise.all([short.ended, long.ended]);
    expect(first, first.err).toMatchObject({ code: 0 });
    expect(second, second.err).toMatchObject({ code: 0 });
    expect(JSON.parse(second.out)).toMatchObject({ finalResponse: LABELS });
    expect(
      attempts(...LABELS).map(({ label }) => label),
      "each step is tried once",
    ).toEqual(LABELS);
    expect(attempts("one", "five")).toMatchObject([{ pid: short.pid }, { pid: long.pid }]);
  });
});

describe("a tool that ends the process that it runs in", () => {
  it("is named, with its session, which can be given up", async () => {
    folder.write({
      "rude/exit.tool.ts": `export const definition = { id: "rude::exit", description: "Exits.", parameters: { type: "object" } };
export const implementation = () => process.exit(7);`,
      "rude/exit.plan.json": planOf("exit", "rude::exit"),
    });
    const rude = ["--capabilities", join(folder.path, "rude")];
    const first = await run("run", "exit", ...rude);
    expect(first).toMatchObject({
      code: 7,
      err: expect.stringMatching(/calls under way: rude::exit \(ses_\w+\)/) as string,
    });
    const [, sessionId = ""] = /ergon cancel (ses_\w+)/.exec(first.err) ?? [];
    const second = await run("run", "chain", "--input", chain(), ...rude);
    expect(second, "it ends whoever takes it up").toMatchObject({
      code: 7,
      err: expect.stringContaining(sessionId) as string,
    });
    expect(await run("cancel", sessionId, ...rude)).toMatchObject({ code: 0 });
    expect(await run("run", "chain", "--input", chain(), ...rude)).toMatchObject({ code: 0 });
  });
});

describe("a command that owns the folder and has done its work", () => {
  it("waits for a call that another command began through it and that may not be repeated", async () => {
    const { short, sending } = await lingering("--json");
    await leaving();
    const newcomer = begin("run", "chain", "--input", chain("new"), "--json");
    const isOver = await Promise.race([short.ended.then(() => true), sleep(LONGER_THAN_IT_DRAINS_MS)]);
    expect(isOver).toBe(undefined);
    release(log, "after hello");
    const [first, second] = await Promise.all([short.ended, sending.ended]);
    expect(first, first.err).toMatchObject({ code: 0 });
    expect(first.err).toContain("may not be repeated; waiting for its end");
    expect(second, second.err).toMatchObject({ code: 0 });
    expect(JSON.parse(second.out)).toMatchObject({ finalResponse: "Sent: hello" });
    expect(attempts("hello")).toMatchObject([{ pid: short.pid }]);
    const third = await newcomer.ended;
    expect(third, third.err).toMatchObject({ code: 0 });
    expect(
      attempts("new one").map(({ pid }) => pid),
      "one that only waits takes no new work",
    ).not.toContain(short.pid);
  });

  it("leaves that call to a person when it is told to go", async () => {
    const { short, sending } = await lingering();
    await sleep(TOLD_AFTER_MS);
    short.child.kill("SIGINT");
    expect((await short.ended).code).toBe(130);
    const { out, code } = await sending.ended;
    expect(code, out).toBe(4);
    expect(out).toContain("outcome_unknown at send");
  });
});

/** Calls that may be repeated get less than this when a process ends, and whoever waits is told by then. */
const LONGER_THAN_IT_DRAINS_MS = 5_000;
const TOLD_AFTER_MS = 1_500;

type Reported = {
  readonly sessionId: string;
  readonly core: { readonly sessionId: string; readonly status: string };
  readonly finalResponse?: unknown;
};

function options() {
  return { cwd: folder.path, env: { WORK_LOG: log, ERGON_DATA: data, ERGON_CAPABILITIES: WORK } };
}

/** `--data` is named, so that whatever is left can be found by it. */
async function run(...args: readonly string[]): Promise<Answer> {
  return await begin(...args).ended;
}

async function withoutTools(...args: readonly string[]): Promise<Answer> {
  const child = start([...args, "--data", data], { cwd: folder.path });
  child.stdin.end();
  return await finish(child);
}

function begin(...args: readonly string[]) {
  const child = start([...args, "--data", data], options());
  child.stdin.end();
  return { child, pid: child.pid, ended: finish(child) };
}

async function serve(): Promise<ServedFolder> {
  return await serveFolder(data, options());
}

function chain(name?: string): string {
  return JSON.stringify({ ms: 0, labels: LABELS.map((label) => (name === undefined ? label : `${name} ${label}`)) });
}

/** A command that has done its work, and another whose call through it may not be repeated and is under way. */
async function lingering(...flags: readonly string[]) {
  const asked = await run("run", "letter", "--input", `{"ms": 0}`);
  hold(log, "before short");
  const short = begin("run", "chain", "--input", `{"ms": 0, "labels": ["short"]}`);
  await until("it owns the folder", () => attempts("short").length > 0);
  hold(log, "after hello");
  const sending = begin("resume", sessionIn(asked.out), "--input", `"hello"`, ...flags);
  await until("the letter is on its way", () => readSent(log).length > 0);
  release(log, "before short");
  return { short, sending };
}

/** A plan of one call. */
function planOf(planId: string, toolId: string): string {
  const steps = [{ id: "a", type: "tool_call", toolId }];
  return JSON.stringify({ planId, description: planId, parameters: { type: "object" }, startStepId: "a", steps });
}

/** The owner sends nobody to itself any more. */
async function leaving(): Promise<void> {
  const file = join(data, "server.json");
  await until("the owner is about to go", () => !readFileSync(file, "utf8").includes("url"));
}

function attempts(...labels: readonly string[]): Attempt[] {
  return readAttempts(log).filter(({ label }) => labels.includes(label));
}

function pids(): number[] {
  return [...new Set(readAttempts(log).map(({ pid }) => pid))];
}

function sessionIn(out: string): string {
  const [, sessionId] = /^session (ses_\w+)$/m.exec(out) ?? [];
  if (sessionId === undefined) throw new Error(`No session is named in: ${out}`);
  return sessionId;
}

/** Each step stands in the history once, and was last tried before it finished. */
async function expectHistory(out: string, labels: readonly string[]): Promise<void> {
  const answer = await run("sessions", "history", sessionIn(out), "--json");
  const { items } = JSON.parse(answer.out) as {
    items: { timestamp: string; request: { label: string }; result: unknown }[];
  };
  expect(items.map(({ request }) => request.label)).toEqual(labels);
  for (const { timestamp, request, result } of items) {
    expect(result).toEqual({ output: { booked: request.label } });
    for (const { at } of attempts(request.label))
      expect(at <= timestamp, `${request.label} again after its end`).toBe(true);
  }
}
