// A command works through an owner that is ended by SIGKILL, at each moment of a request.
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Answer, finish, start, temporaryFolder } from "./ergon.ts";
import { CLIENTS } from "./mcp-clients.ts";
import { createOwnerProxy, type Moment, type OwnerProxy } from "./owner-proxy.ts";
import { leaveNothingOn, until } from "./processes.ts";
import { serveFolder } from "./served.ts";
import { hold, readAttempts, readSent, WORK } from "./work-log.ts";

let folder: ReturnType<typeof temporaryFolder>;
let data: string;
let log: string;
let proxy: OwnerProxy | undefined;

beforeEach(() => {
  folder = temporaryFolder();
  data = join(folder.path, "data");
  log = join(folder.path, "log");
  mkdirSync(log);
});
afterEach(() => {
  proxy?.close();
  try {
    leaveNothingOn(folder.path);
  } finally {
    folder.remove();
  }
});

const MOMENTS: readonly Moment[] = ["unread", "untold", "unanswered", "answered"];
const wasDone = (moment: Moment): boolean => moment === "unanswered" || moment === "answered";

describe("an answer to a session, whose owner dies", () => {
  it.each(MOMENTS)("when the request is %s, is given once, and the command takes over", async (moment) => {
    const { owner, sessionId } = await asked();
    if (wasDone(moment)) hold(log, "after hello");
    proxy = await createOwnerProxy(data);
    proxy.breakAt(moment, /^POST .*\/resume/, async () => {
      if (wasDone(moment)) await letterIsSent();
      await owner.stop("SIGKILL");
    });
    await expectGivenOnce(sessionId, wasDone(moment));
  });

  it.each([
    ["the look before it", /^GET \/sessions\/[^/]+$/, false],
    ["the wait behind it", /^GET .*view=core/, true],
    ["the stream of events", /^GET .*\/events/, true],
  ])("when %s is unread, is given once, and the command takes over", async (_, kind, done) => {
    const { owner, sessionId } = await asked();
    if (done) hold(log, "after hello");
    proxy = await createOwnerProxy(data);
    proxy.breakAt("unread", kind, async () => {
      if (done) await letterIsSent();
      await owner.stop("SIGKILL");
    });
    await expectGivenOnce(sessionId, done);
  });

  it("is given by the command itself when the owner takes no connection and holds the folder for a while", async () => {
    const { owner, sessionId } = await asked();
    await owner.stop("SIGKILL");
    // What the kernel does while it ends a process: connections are closed before the folder is free.
    const ending = createServer((socket) => socket.destroy());
    let tries = 0;
    ending.on("connection", () => {
      tries += 1;
      if (tries === TRIES) ending.close();
    });
    const socket = join(data, "owner.sock");
    rmSync(socket, { force: true });
    await once(ending.listen(socket), "listening");
    const named = JSON.parse(readFileSync(join(data, "server.json"), "utf8")) as object;
    writeFileSync(join(data, "server.json"), JSON.stringify({ ...named, pid: process.pid }), { mode: 0o600 });
    const { out, err, code } = await run("resume", sessionId, "--input", `"hello"`);
    expect({ code }, err).toEqual({ code: 0 });
    expect(out).toContain("Sent: hello");
    expect(tries).toBe(TRIES);
  });
});

describe("a plan of an MCP client, whose owner dies", () => {
  it.each(MOMENTS)("when the start is %s, is started once and goes on in the MCP server", async (moment) => {
    const owner = await serve();
    proxy = await createOwnerProxy(data);
    const client = await CLIENTS["SDK v2, 2026"](target());
    try {
      await client.tools();
      proxy.breakAt(moment, /^POST .*\/execute-plan/, async () => {
        await owner.stop("SIGKILL");
      });
      const labels = ["one", "two"];
      const called = await client.call("plan_chain", { ms: 0, labels });
      expect(called.structured, called.text).toMatchObject({ status: "completed", finalResponse: labels });
      expect((await client.call("list_sessions", {})).structured["items"]).toHaveLength(1);
    } finally {
      await client.close();
    }
  });

  it("is run with few requests to the owner", async () => {
    const owner = await serve();
    proxy = await createOwnerProxy(data);
    const client = await CLIENTS["SDK v2, 2026"](target());
    try {
      await client.tools();
      const input = { ms: 0, labels: ["one", "two"] };
      await client.call("plan_chain", input);
      const requestsOf = async (options: Parameters<typeof client.call>[2]): Promise<readonly string[]> => {
        const before = proxy?.requests.length;
        expect((await client.call("plan_chain", input, options)).structured).toMatchObject({ status: "completed" });
        return (proxy?.requests.slice(before) ?? []).map((line) => line.replaceAll(/ses_\w+/g, "ID"));
      };
      const start = "POST /sessions/ID/execute-plan";
      const read = "GET /sessions/ID?limit=1";
      expect(await requestsOf({})).toEqual([`${start}?view=core`, read]);
      const watched = await requestsOf({ onprogress: () => undefined });
      expect(watched.toSorted()).toEqual(["GET /sessions/ID/events", read, start].toSorted());
    } finally {
      await client.close();
    }
    expect(await owner.stop("SIGTERM")).toBe(0);
  });
});

/** More often than a client of an owner may find it gone. */
const TRIES = 20;

/** An owner, and a session of its that waits for a person. */
async function asked() {
  const owner = await serve();
  const { out } = await run("run", "letter", "--input", `{"ms": 0}`);
  const [, sessionId = ""] = /^session (ses_\w+)$/m.exec(out) ?? [];
  return { owner, sessionId };
}

/** Where the letter was on its way when the owner died, a person has to say what became of it. */
async function expectGivenOnce(sessionId: string, done: boolean): Promise<void> {
  const { out, err, code } = await run("resume", sessionId, "--input", `"hello"`);
  expect({ code }, err).toEqual({ code: done ? 4 : 0 });
  expect(out).toMatch(done ? /outcome_unknown at send: "work::send" was called/ : /Sent: hello/);
  expect(readAttempts(log).filter(({ label }) => label === "hello")).toHaveLength(1);
}

async function letterIsSent(): Promise<void> {
  await until("the letter is on its way", () => readSent(log).length > 0);
}

const environment = () => ({ WORK_LOG: log, ERGON_CAPABILITIES: WORK });

async function serve() {
  return await serveFolder(data, { cwd: folder.path, env: environment() });
}

function target() {
  return { kind: "stdio", data, cwd: folder.path, env: environment() } as const;
}

async function run(...args: readonly string[]): Promise<Answer> {
  const child = start([...args, "--data", data], { cwd: folder.path, env: environment() });
  child.stdin.end();
  return await finish(child);
}
