import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectErgon, openErgon } from "ergon";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ergon, finish, plainEnvironment, temporaryFolder } from "./ergon.ts";
import { serveFolder } from "./served.ts";

let folder: ReturnType<typeof temporaryFolder>;
let children: ChildProcessWithoutNullStreams[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  folder.remove();
});

describe("a program with openErgon", () => {
  it("goes on after kill -9 with nothing repeated, and ends by itself when it is closed", async () => {
    const { data, log, gate } = paths();
    const first = program("begin.fixture.ts", [data, log, gate]);
    const id = await firstLine(first);
    await until(() => existsSync(log) && readFileSync(log, "utf8").includes("deliver"));
    first.kill("SIGKILL");
    await once(first, "close");
    writeFileSync(gate, "");

    const second = program("finish.fixture.ts", [data, log, gate, id]);
    const { out, err, code } = await finish(second);
    expect(code, err).toBe(0);
    const lines = out.trim().split("\n");
    expect(lines.filter((line) => line === "session-started")).toHaveLength(1);
    expect(lines.slice(-2)).toEqual(["paused_on_human Did it arrive?", "r-A-1"]);

    const calls = readFileSync(log, "utf8").trim().split("\n");
    expect(calls.filter((line) => line.startsWith("charge"))).toHaveLength(1);
    // The delivery was under way: it is asked for again with the same key.
    const deliveries = calls.filter((line) => line.startsWith("deliver"));
    expect(deliveries).toHaveLength(2);
    expect(new Set(deliveries).size).toBe(1);
  });

  it("is refused a folder that another process owns, and says which; commands work through the owner", async () => {
    const { data, log, gate } = paths();
    const owner = program("begin.fixture.ts", [data, log, gate]);
    const id = await firstLine(owner);
    await expect(openErgon({ data })).rejects.toMatchObject({
      code: "folder_owned",
      details: { pid: owner.pid, url: expect.stringMatching(/^http:/) },
    });
    const shown = await ergon(["sessions", "show", id, "--data", data, "--json"], { cwd: folder.path });
    expect(JSON.parse(shown.out)).toMatchObject({ core: { status: "running", currentPlanId: "checkout" } });
  });
});

describe("connectErgon", () => {
  it("has the same runs and calls through a server", async () => {
    folder.write({
      "own/greet.tool.ts": `import { defineTool } from "@ergon/core"; import { z } from "zod";
        export default defineTool({ name: "own::greet", description: "Greets.", effects: "pure",
          input: z.object({ who: z.string() }), run: async ({ who }) => \`Hello, \${who}\` });`,
      "own/ask.plan.json": JSON.stringify({
        planId: "ask",
        startStepId: "who",
        steps: [
          { id: "who", type: "human_in_the_loop", message: "Who?", saveAs: "who", nextStepIdOnInput: "greet" },
          {
            id: "greet",
            type: "tool_call",
            toolId: "own::greet",
            arguments: { who: { jsonPath: "$.context.who" } },
            saveAs: "said",
            nextStepId: "done",
          },
          { id: "done", type: "final_response", message: { jsonPath: "$.context.said" } },
        ],
      }),
    });
    const data = join(folder.path, "data");
    const server = await serveFolder(data, { cwd: folder.path, args: ["--capabilities", "own"] });
    try {
      const { url, token } = server;
      const client = await connectErgon({ url, token });
      const run = await client.run("ask");
      const types: string[] = [];
      for await (const { type } of run.events()) types.push(type);
      expect(types.at(-1)).toBe("session-paused");
      await run.answer("Ada", { step: "who" });
      expect(await run.result()).toBe("Hello, Ada");
      expect((await client.runs()).items.map(({ sessionId }) => sessionId)).toEqual([run.id]);
      expect(await client.call("own::greet", { who: "Bo" })).toBe("Hello, Bo");
      expect(await client.approvals()).toEqual({ items: [] });
      const fork = await run.fork({ fromStep: "greet" });
      expect(await fork.result()).toBe("Hello, Ada");
      await client.close();
      await expect(connectErgon({ url, token: "wrong" })).rejects.toMatchObject({ code: "unauthorized" });
    } finally {
      await server.stop("SIGTERM");
    }
  });

  it("says what is wrong with an address", async () => {
    await expect(connectErgon({ url: "nowhere", token: "t" })).rejects.toMatchObject({ code: "input_invalid" });
    await expect(connectErgon({ url: "http://127.0.0.1:1", token: "t" })).rejects.toMatchObject({ code: "owner_gone" });
  });
});

function paths(): { readonly data: string; readonly log: string; readonly gate: string } {
  const at = (name: string): string => join(folder.path, name);
  return { data: at("data"), log: at("log"), gate: at("gate") };
}

function program(file: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  const path = join(import.meta.dirname, "library", file);
  const child = spawn(process.execPath, [path, ...args], { cwd: folder.path, env: plainEnvironment() });
  children.push(child);
  return child;
}

async function firstLine({ stdout }: ChildProcessWithoutNullStreams): Promise<string> {
  let out = "";
  for await (const chunk of stdout) {
    out += String(chunk);
    if (out.includes("\n")) break;
  }
  return out.split("\n", 1)[0] ?? "";
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(20);
}
