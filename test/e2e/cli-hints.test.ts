import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ergon, finish, start } from "./ergon.ts";
import { ownFolder } from "./own-folder.ts";

const PAY = `
import { appendFileSync, existsSync } from "node:fs";
export const definition = { id: "shop::pay", description: "Pays.", effects: "once", parameters: { type: "object" } };
export const implementation = async ({ cents }) => {
  appendFileSync("paid.log", cents + "\\n");
  while (existsSync("slow")) await new Promise((resolve) => setTimeout(resolve, 20));
  return "r-1";
};
`;
const BROKEN = `
export const definition = { id: "shop::broken", description: "Fails.", effects: "idempotent", parameters: { type: "object" } };
export const implementation = async () => { throw new Error("out of order"); };
`;
const plan = (planId: string, steps: readonly object[]) =>
  JSON.stringify({ planId, description: planId, parameters: { type: "object" }, startStepId: "one", steps });
const FILES = {
  "caps/pay.tool.js": PAY,
  "caps/broken.tool.js": BROKEN,
  "caps/order.plan.json": plan("order", [
    { id: "one", type: "tool_call", toolId: "shop::pay", arguments: { cents: 990 }, nextStepId: "end" },
    { id: "end", type: "final_response", message: "Paid." },
  ]),
  "caps/fails.plan.json": plan("fails", [{ id: "one", type: "tool_call", toolId: "shop::broken" }]),
  "caps/each.plan.json": plan("each", [
    {
      id: "one",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.names" },
      itemAlias: "who",
      loopPlan: [
        { id: "greet", type: "tool_call", toolId: "demo::greet", arguments: { who: { jsonPath: "$.context.who" } } },
      ],
    },
  ]),
  "served.plan.json": plan("served", [{ id: "one", type: "tool_call", toolId: "files_read", arguments: {} }]),
  "mcp-servers.json": JSON.stringify({ servers: [{ id: "files", command: "files" }] }),
};

const folder = ownFolder();
const run = (...args: readonly string[]) =>
  ergon([...args, "--data", join(folder.path, "data")], {
    cwd: folder.path,
    env: { XDG_STATE_HOME: join(folder.path, "state"), MCP_CONFIG_PATH: join(folder.path, "none.json") },
  });
const runOwn = (...args: readonly string[]) => run(...args, "--capabilities", join(folder.path, "caps"));
const sessionIn = (out: string): string => /ses_\w+/.exec(out)?.[0] ?? "";

describe("a run whose process was killed in a call of effects once", { timeout: 120_000 }, () => {
  it("is shown as left, with the call, its arguments and its key, and is forked only when that is said", async () => {
    folder.write({ ...FILES, slow: "" });
    const args = ["run", "order", "--data", join(folder.path, "data"), "--capabilities", join(folder.path, "caps")];
    const child = start(args, { cwd: folder.path });
    const ended = finish(child);
    while (!existsSync(join(folder.path, "paid.log"))) await sleep(20);
    child.kill("SIGKILL");
    await ended;

    const listed = await run("sessions");
    const session = sessionIn(listed.out);
    expect(listed.out).toContain("running (no process)");
    expect(listed.err).toContain(`No process works on it. Take it up: npx ergon resume ${session}`);
    const call = new RegExp(`one {2}shop::pay {2}\\{"cents":990\\} → outcome unknown.*idempotency key ${session}:`);
    for (const word of ["show", "history"]) {
      // An id may be shortened as long as it is the only one.
      const shown = await run("sessions", word, session.slice(0, 16));
      expect([shown.code, shown.out]).toEqual([0, expect.stringMatching(call)]);
    }

    const refused = await runOwn("fork", session, "--from", "one");
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("--repeat-once")]);
    expect(readFileSync(join(folder.path, "paid.log"), "utf8")).toBe("990\n");
  });

  it("is paid again by a fork with --repeat-once", async () => {
    folder.write(FILES);
    const session = sessionIn((await runOwn("run", "order")).out);
    expect((await runOwn("fork", session, "--from", "one")).code).toBe(1);
    const forked = await runOwn("fork", session, "--from", "one", "--repeat-once");
    expect([forked.code, forked.out]).toEqual([0, expect.stringContaining("Paid.")]);
    expect(readFileSync(join(folder.path, "paid.log"), "utf8")).toBe("990\n990\n");
    const both = await run("sessions", "show", "ses_");
    expect([both.code, both.err]).toEqual([2, expect.stringContaining('"ses_" is the beginning of several ids')]);
  });
});

describe("what a command says", { timeout: 120_000 }, () => {
  it("of a port in use is one line, without a stack", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const { code, err } = await run("serve", "--port", String(port));
    taken.close();
    expect([code, err.trim().split("\n")]).toEqual([
      1,
      [expect.stringContaining(`Another program listens on 127.0.0.1:${String(port)} already`)],
    ]);
    expect(err).toContain("--port");
  });

  it("of corrections is not in the list of sessions unless all are asked for", async () => {
    folder.write(FILES);
    const failed = await runOwn("run", "fails");
    expect([failed.code, failed.err]).toEqual([4, expect.not.stringContaining('"level":')]);
    const ids = async (...more: readonly string[]) =>
      (JSON.parse((await run("sessions", "list", "--json", ...more)).out) as { items: { sessionId: string }[] }).items;
    expect(await ids()).toHaveLength(1);
    expect(await ids("--all")).toHaveLength(4);
  });

  it("of the turns of a loop has their numbers", async () => {
    folder.write(FILES);
    const { err } = await runOwn("run", "each", "--input", '{"names":["a","b"]}');
    expect(err).toMatch(/✓ greet\[0\] demo::greet\n✓ greet\[1\] demo::greet/);
  });

  it("of a plan with tools of an unapproved server is why they are not there, and what to do", async () => {
    folder.write(FILES);
    const why = "ergon servers approve files";
    const env = { XDG_STATE_HOME: join(folder.path, "state") };
    for (const words of [
      ["plans", "validate", "served.plan.json"],
      ["run", "served.plan.json"],
    ]) {
      const { code, out, err } = await ergon([...words, "--data", "data"], { cwd: folder.path, env });
      expect([code, `${out}${err}`]).toEqual([words[0] === "run" ? 2 : 1, expect.stringContaining(why)]);
    }
  });

  it("of a folder that is not there, a version and a group of commands is what was meant", async () => {
    const called = await run("tools", "call", "demo::greet", "--args", '{"who":"Ada"}', "--capabilities", "nosuch");
    expect([called.code, called.err]).toEqual([0, expect.stringMatching(/nosuch: This folder does not exist\./)]);
    const listed = await run("tools", "--capabilities", "nosuch");
    expect(listed.err.match(/does not exist/g)).toHaveLength(1);
    expect(JSON.parse((await run("--version", "--json")).out)).toEqual({ version: expect.any(String) });
    const blobs = await run("blobs");
    expect([blobs.code, blobs.out]).toEqual([0, expect.stringContaining("get [options] <id>")]);
  });
});
