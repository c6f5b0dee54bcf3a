import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolSummary } from "@ergon/core/schema";
import { type Answer, ergon, finish, start, temporaryFolder } from "./ergon.ts";
import { until } from "./processes.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const run = async (...args: readonly string[]): Promise<Answer> => ergon(args, { cwd: folder.path });

describe("tools list", () => {
  it("is a table for people", async () => {
    const { out, err, code } = await run("tools");
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toMatch(/^TOOL +EFFECTS +DESCRIPTION\n/);
    expect(out).toMatch(/^demo::greet +pure +Greets someone by name\.$/m);
    expect((await run("tools", "list")).out).toBe(out);
  });

  it("is one document of summaries for machines", async () => {
    const { out } = await run("tools", "list", "--json");
    const { items, problems } = JSON.parse(out) as { items: unknown[]; problems: unknown };
    expect(problems).toEqual([]);
    expect(items.map((item) => ToolSummary.parse(item).id)).toEqual(
      expect.arrayContaining([
        "demo::add",
        "demo::fail",
        "demo::greet",
        "demo::sleep",
        "demo::word_count",
        "summarizeText",
      ]),
    );
  });
});

describe("tools show", () => {
  it("says what a tool takes and returns", async () => {
    const { out, code } = await run("tools", "show", "demo::greet");
    expect(code).toBe(0);
    expect(out).toMatch(/^demo::greet {2}Greet someone\nGreets someone by name\.\n/);
    expect(out).toMatch(/who +string +required +Who is greeted/);
    expect(out).toMatch(/greeting +string +default "Hello" +The word to greet with/);
    expect(out).toMatch(/returns\n {2}greeting +string/);
  });

  it("is the tool's summary for machines", async () => {
    const { out } = await run("tools", "show", "summarizeText", "--json");
    expect(ToolSummary.parse(JSON.parse(out))).toMatchObject({
      id: "summarizeText",
      origin: "action",
      effects: "pure",
    });
  });

  it("does not let a description rewrite the screen", async () => {
    folder.write({
      "evil/evil.tool.js": `exports.definition = { id: "evil", description: "fine\\u001b[2J\\u202e\\u200bmore", parameters: {} };\nexports.implementation = () => "\\u001b]0;owned\\u0007";`,
    });
    const answers = await Promise.all([
      run("tools", "show", "evil", "--capabilities", "evil"),
      run("tools", "list", "--capabilities", "evil"),
      run("tools", "call", "evil", "--capabilities", "evil"),
    ]);
    for (const { out, code } of answers) {
      expect(code).toBe(0);
      for (const mark of ["\u001B", "\u202E", "\u0007", "\u200B"]) expect(out).not.toContain(mark);
      expect(out).toContain("\\u001b");
    }
  });
});

describe("tools call", () => {
  it("prints the output, pretty for people and as one document for machines", async () => {
    const args = ["tools", "call", "demo::greet", "--args", `{"who": "Ada"}`];
    expect(await run(...args)).toEqual({ out: `{\n  "greeting": "Hello, Ada!"\n}\n`, err: "", code: 0 });
    expect(await run(...args, "--json")).toEqual({ out: `{"output":{"greeting":"Hello, Ada!"}}\n`, err: "", code: 0 });
  });

  it("takes its arguments from a file and from stdin, and defaults from the schema", async () => {
    folder.write({ "args.json": `{"who": "Grace", "greeting": "Good day"}` });
    const file = await run("tools", "call", "demo::greet", "--args", "@args.json", "--json");
    expect(file.out).toBe(`{"output":{"greeting":"Good day, Grace!"}}\n`);
    const piped = await ergon(["tools", "call", "demo::add", "--args", "-", "--json"], {
      cwd: folder.path,
      input: `{"a": 1.5, "b": 2}`,
    });
    expect(piped.out).toBe(`{"output":{"sum":3.5}}\n`);
  });

  it("works out what it says it does", async () => {
    const count = await run(
      "tools",
      "call",
      "demo::word_count",
      "--args",
      `{"text": "naïve 🙂 words\\nhere"}`,
      "--json",
    );
    expect(JSON.parse(count.out)).toEqual({ output: { words: 3, lines: 2, characters: 18 } });
    const args = JSON.stringify({
      text: "Energy is spent. It rains. Energy comes back when energy rests.",
      sentences: 1,
    });
    const { out } = await run("tools", "call", "summarizeText", "--args", args, "--json");
    expect(JSON.parse(out)).toMatchObject({
      output: { success: true, data: { summary: "Energy comes back when energy rests.", sentencesKept: 1 } },
    });
  });

  it("keeps what was called, by whom and what it cost", async () => {
    await run("tools", "call", "demo::add", "--args", `{"a": 1, "b": 2}`, "--data", "kept");
    await run("tools", "call", "demo::fail", "--args", `{"message": "no luck"}`, "--data", "kept");
    const db = new DatabaseSync(join(folder.path, "kept/state.db"), { readOnly: true });
    const rows = (table: string) => Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    expect({ sessions: rows("sessions"), journal: rows("journal"), energy: rows("energy") }).toEqual({
      sessions: 2,
      journal: 2,
      energy: 2,
    });
    db.close();
    expect(existsSync(join(folder.path, "kept/server.json"))).toBe(false);
  });

  it("fails with exit 1 and what the tool said", async () => {
    const args = ["tools", "call", "demo::fail", "--args", `{"message": "no luck"}`];
    expect(await run(...args)).toEqual({ out: "", err: "error: no luck\n", code: 1 });
    const { out, err, code } = await run(...args, "--json");
    expect({ err, code }).toEqual({ err: "", code: 1 });
    expect(JSON.parse(out)).toMatchObject({ error: { code: "tool_failed", message: "no luck" } });
  });

  it("names a large output by its blob", async () => {
    folder.write({
      "big/big.tool.js": `exports.definition = { id: "big", description: "d", parameters: {} };\nexports.implementation = () => "x".repeat(100_000);`,
    });
    const { out, code } = await run("tools", "call", "big", "--capabilities", "big");
    expect(code).toBe(0);
    expect(out).toMatch(/^a blob of 100002 bytes \(application\/json\), id [0-9a-f]{64}\n$/);
    const { output } = JSON.parse((await run("tools", "call", "big", "--capabilities", "big", "--json")).out) as {
      output: unknown;
    };
    expect(output).toMatchObject({ bytes: 100_002, mediaType: "application/json" });
  });

  it("acts for the role it is given", async () => {
    folder.write({
      "roles/secret/action.js": `module.exports = { id: "secret", title: "t", description: "d", applicableRoles: ["analyst"], capabilityTags: [], tags: [],
        suggestedPrerequisites: [], suggestedPostrequisites: [], usesAI: false, actionFn: async () => ({ success: true }) };`,
    });
    const args = ["tools", "call", "secret", "--capabilities", "roles", "--json"];
    expect(JSON.parse((await run(...args)).out)).toMatchObject({ error: { code: "role_denied" } });
    expect(JSON.parse((await run(...args, "--role", "analyst")).out)).toEqual({ output: { success: true } });
  });

  it("refuses a data folder that cannot be", async () => {
    folder.write({ file: "" });
    const { err, code } = await run("tools", "call", "demo::add", "--args", `{"a": 1, "b": 2}`, "--data", "file/data");
    expect(code).toBe(1);
    expect(err).toMatch(/file\/data/);
  });
});

describe("Ctrl-C", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s stops the tool, records it and gives the folder back (exit %i)", async (signal, code) => {
    folder.write({ "slow/waits.tool.ts": WAITING_TOOL });
    const child = start(["tools", "call", "slow::waits", "--capabilities", "slow", "--json"], { cwd: folder.path });
    const answer = finish(child);
    await until("the tool runs", () => existsSync(join(folder.path, "begun")));
    child.kill(signal);
    const { out, code: found } = await answer;
    expect(found).toBe(code);
    expect(JSON.parse(out)).toMatchObject({ error: { code: "cancelled" } });
    expect(existsSync(join(folder.path, ".ergon/server.json"))).toBe(false);
    const db = new DatabaseSync(join(folder.path, ".ergon/state.db"), { readOnly: true });
    expect(db.prepare("SELECT count(*) AS n FROM journal").get()).toEqual({ n: 1 });
    db.close();
  });

  it("a second one ends it at once", async () => {
    const hanging = `${BEGUN} await new Promise(() => {});`;
    folder.write({ "stuck/hangs.tool.ts": hanging });
    const child = start(["tools", "list", "--capabilities", "stuck"], { cwd: folder.path });
    let out = "";
    let err = "";
    child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()));
    const closed = once(child, "close");
    await until("the tool's file is loaded", () => existsSync(join(folder.path, "begun")));
    child.kill("SIGINT");
    await until("the first one is heard", () => err !== "");
    child.kill("SIGINT");
    await closed;
    expect({ out, code: child.exitCode }).toEqual({ out: "", code: 130 });
    expect(err).toBe("stopping; once more to stop at once\n");
  });
});

const BEGUN = `import { writeFileSync } from "node:fs"; writeFileSync("begun", "");`;
const WAITING_TOOL = `import { writeFileSync } from "node:fs";
export const definition = { id: "slow::waits", description: "Waits.", parameters: { type: "object" } };
export const implementation = (_args, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    writeFileSync("begun", "");
  });`;
