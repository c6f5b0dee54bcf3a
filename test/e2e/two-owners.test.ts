// One process owns a data folder, whatever its tools do with the files; one that lost it says so and ends.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ergon, finish, start } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";
import { firstToken } from "./owner-access.ts";
import { until } from "./processes.ts";

const PATIENCE = { timeout: 120_000 };
const SESSIONS = 20;

/** A backup of one's own making, as anybody would write it: it opens and closes every file of the folder. */
const COPY = `
import { cpSync } from "node:fs";
export const definition = {
  id: "backup::copy", description: "Copies a folder.", parameters: { type: "object" }, effects: "read",
};
export const implementation = ({ from, to }) => (cpSync(from, to, { recursive: true }), "copied");`;

describe("a data folder whose owner's own tools read all of it", () => {
  const folder = ownFolder();
  const data = () => join(folder.path, "data");
  const flags = () => ["--data", data(), "--capabilities", join(folder.path, "caps")];

  it("keeps its one owner: a second command works through it, and nothing is lost", PATIENCE, async () => {
    const owner = await serve();
    const acknowledged = await createSessions(owner.url, SESSIONS);
    await copyData(owner.url);
    const second = await ergon(["tools", "call", "demo::add", "--args", `{"a":1,"b":2}`, ...flags()], {
      cwd: folder.path,
    });
    expect(second, second.err).toMatchObject({ code: 0 });
    const run = await ergon(["run", "review_text", "--input", `{"text":"hi"}`, "--json", ...flags()], {
      cwd: folder.path,
    });
    expect(run, run.err).toMatchObject({ code: 0 });
    expect(JSON.parse(readFileSync(join(data(), "server.json"), "utf8"))).toMatchObject({ pid: owner.child.pid });
    acknowledged.push(...(await createSessions(owner.url, SESSIONS)));
    owner.child.kill("SIGTERM");
    expect(await owner.ended).toMatchObject({ code: 0 });
    await expectAll(acknowledged);
  });

  it("ends its first owner when a second one is forced; what was acknowledged is there", PATIENCE, async () => {
    const first = await serve();
    const acknowledged = await createSessions(first.url, SESSIONS);
    await copyData(first.url);
    rmSync(join(data(), "owner.sock"));
    const second = await serve();
    // Until it is gone: no answer after the second owner began may be believed by the first.
    const late: string[] = [];
    for (let tries = 0; tries < 200; tries += 1) {
      const made = await createSessions(first.url, 1).catch(() => undefined);
      if (made === undefined) break;
      late.push(...made);
      await sleep(10);
    }
    expect(late).toEqual([]);
    const { code, err } = await first.ended;
    expect(code).toBe(1);
    // Whichever it sees first: the second owner's epoch in the store, or its name in server.json.
    expect(err).toMatch(/error: (?:Another process took over|This process no longer owns) /);
    acknowledged.push(...(await createSessions(second.url, SESSIONS)));
    expect(existsSync(join(data(), "owner.sock")), "the second owner's lock is left to it").toBe(true);
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
    await expectAll(acknowledged);
  });

  it("ends an owner that only waits, too, within seconds", PATIENCE, async () => {
    const owner = await serve();
    rmSync(join(data(), "server.json"));
    const { code, err } = await owner.ended;
    expect(code).toBe(1);
    expect(err).toContain("its server.json is gone");
    expect((await fetch(new URL("/readyz", owner.url)).catch(() => undefined))?.status).not.toBe(200);
  });

  async function serve() {
    folder.write({ "caps/copy.tool.ts": COPY });
    const child = start(["serve", "--port", "0", ...flags()], { cwd: folder.path });
    const ended = finish(child);
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on("line", (line) => line.startsWith("ready ") && resolve(line.slice(6)));
      void ended.then(({ err }) => reject(new Error(err)));
    });
    return { child, url, ended };
  }

  async function createSessions(url: string, count: number): Promise<string[]> {
    const made = Array.from({ length: count }, async () => {
      const response = await post(url, "/sessions", {});
      if (response.status !== 201) throw new Error(String(response.status));
      return ((await response.json()) as { sessionId: string }).sessionId;
    });
    return Promise.all(made);
  }

  async function copyData(url: string): Promise<void> {
    const args = { from: data(), to: join(folder.path, "copy") };
    const response = await post(url, "/tools/backup::copy/call", { args });
    expect(await response.text()).toContain("copied");
  }

  function post(url: string, path: string, body: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${firstToken(data())}`, "content-type": "application/json" };
    return fetch(new URL(path, url), { method: "POST", headers, body: JSON.stringify(body) });
  }

  async function expectAll(sessions: readonly string[]): Promise<void> {
    const { out } = await ergon(["sessions", "list", "--json", "--limit", "100", "--data", data()], {
      cwd: folder.path,
    });
    const kept = (JSON.parse(out) as { items: { sessionId: string }[] }).items.map(({ sessionId }) => sessionId);
    expect(kept).toEqual(expect.arrayContaining([...sessions]));
  }
});

describe("an owner that was stopped (SIGSTOP)", () => {
  const folder = ownFolder();

  it("is named by a command that waits for it, and by doctor, with what to do", PATIENCE, async () => {
    const data = join(folder.path, "data");
    mkdirSync(folder.path, { recursive: true });
    const owner = start(["serve", "--port", "0", "--data", data], { cwd: folder.path });
    const ended = finish(owner);
    await until(
      "it listens",
      () => existsSync(join(data, "server.json")) && readFileSync(join(data, "server.json"), "utf8").includes("url"),
    );
    owner.kill("SIGSTOP");
    const waiting = start(["sessions", "--json", "--data", data], { cwd: folder.path });
    let said = "";
    waiting.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const answer = finish(waiting);
    await until("it says so", () => said.includes("does not answer"));
    const hint = `The process ${String(owner.pid)} that owns ${data} does not answer. If it was stopped, continue it with: kill -CONT ${String(owner.pid)}.`;
    expect(said).toContain(hint);
    const examined = await ergon(["doctor", "--data", data], { cwd: folder.path });
    expect(examined.code).toBe(1);
    expect(examined.out).toContain(hint);
    owner.kill("SIGCONT");
    expect(await answer).toMatchObject({ code: 0, out: `{"items":[]}\n` });
    const closed = once(owner, "close");
    owner.kill("SIGTERM");
    await closed;
    expect(await ended).toMatchObject({ code: 0 });
  });
});
