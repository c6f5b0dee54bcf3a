import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import manifest from "../../apps/ergon/package.json" with { type: "json" };
import { type Answer, DOORS, ergon, temporaryFolder } from "./ergon.ts";

let folder: ReturnType<typeof temporaryFolder>;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => folder.remove());

const run = async (...args: readonly string[]): Promise<Answer> => ergon(args, { cwd: folder.path });

describe("ergon", () => {
  it.each(["built", "sources"] as const)("shows its version (%s)", async (door) => {
    const answer = await ergon(["--version"], { cwd: folder.path, door });
    expect(answer).toEqual({ out: `ergon ${manifest.version}\n`, err: "", code: 0 });
  });

  it("loads neither stores nor schemas to show its version", async () => {
    const probe = join(folder.path, "probe.mjs");
    folder.write({
      "probe.mjs": `import { registerHooks } from "node:module";
        registerHooks({ resolve(name, context, next) { const found = next(name, context); process.stderr.write(found.url + "\\n"); return found; } });`,
    });
    const { stderr } = await promisify(execFile)(process.execPath, ["--import", probe, DOORS.sources, "--version"]);
    expect(stderr).toContain("commander");
    expect(stderr).not.toMatch(/sqlite|ajv|zod|pino|packages\/(core|node)/);
  });

  it.each([[[]], [["--help"]], [["help"]], [["-h"]]])("explains itself (%j)", async (args) => {
    const { out, err, code } = await run(...args);
    expect({ err, code }).toEqual({ err: "", code: 0 });
    expect(out).toMatch(/Usage: ergon[^]*--json[^]*--data[^]*--capabilities[^]*tools[^]*doctor[^]*Examples:/);
  });

  it("explains a command, the flags of all commands included", async () => {
    const { out, code } = await run("tools", "call", "--help");
    expect(code).toBe(0);
    expect(out).toMatch(/Usage: ergon tools call[^]*--args <json>[^]*Global Options:[^]*--json/);
  });

  it("leaves nothing behind when it only looks", async () => {
    await run("tools", "list");
    await run("doctor");
    expect(existsSync(join(folder.path, ".ergon"))).toBe(false);
  });
});

describe("a mistyped word gets the word that was meant", () => {
  it.each([
    ["a command", ["tols"], /Unknown command 'tols'\. Did you mean tools\?/],
    [
      "a subcommand with more behind it",
      ["tools", "cal", "demo::add", "x"],
      /no command "ergon tools cal"\. Did you mean "call"\?/,
    ],
    ["a subcommand", ["tools", "lst"], /no command "ergon tools lst"\. Did you mean "list"\?/],
    ["a flag", ["tools", "list", "--jsn"], /Unknown option '--jsn'\. Did you mean --json\?/],
    [
      "a flag of a subcommand",
      ["tools", "call", "demo::add", "--arg", "{}"],
      /Unknown option '--arg'\. Did you mean --args\?/,
    ],
    ["a tool to show", ["tools", "show", "demo::gret"], /no tool "demo::gret"\. Did you mean "demo::greet"\?/],
    ["a tool without its domain", ["tools", "show", "greet"], /Did you mean "demo::greet"\?/],
    ["a tool to call", ["tools", "call", "demo::ad"], /no tool "demo::ad"\. Did you mean "demo::add"\?/],
    [
      "a field",
      ["tools", "call", "demo::greet", "--args", `{"woh": "Ada"}`],
      /"woh" is not a field here\. Did you mean "who"\?/,
    ],
  ])("%s", async (_, args, message) => {
    const human = await run(...args);
    expect(human).toMatchObject({ out: "", code: 2 });
    expect(human.err).toMatch(/^error: /);
    expect(human.err).toMatch(message);
    const machine = await run(...args, "--json");
    expect(machine).toMatchObject({ err: "", code: 2 });
    const { error } = JSON.parse(machine.out) as { error: { code: string; message: string } };
    expect(error.message).toMatch(message);
    expect(["usage", "tool_not_found", "args_invalid"]).toContain(error.code);
  });

  it("and bad input is refused before anything is written", async () => {
    expect(await run("tools", "call", "demo::greet", "--args", "{}")).toMatchObject({ code: 2 });
    expect(await run("run", "welcome_taem")).toMatchObject({ code: 2 });
    expect(existsSync(join(folder.path, ".ergon"))).toBe(false);
  });
});

describe("usage", () => {
  it.each([
    [["tools", "show"], /Missing required argument 'id'\./],
    [["tools", "call"], /Missing required argument 'id'\./],
    [["tools", "list", "extra"], /Too many arguments/],
    [["tools", "call", "demo::add", "--args"], /Option '--args <json>' argument missing\./],
    [["--data"], /Option '--data <dir>' argument missing\./],
    [
      ["tools", "call", "demo::add", "--args", "{a: 1}"],
      /--args is not JSON: unexpected "a", expected a name in double quotes or } at line 1, column 2/,
    ],
    [["tools", "call", "demo::add", "--args", "[1, 2]"], /--args must be a JSON object/],
    [["tools", "call", "demo::add", "--args", "@gone.json"], /gone\.json: it cannot be read/],
    [["tools", "call", "demo::add", "--args", `{"a": 1}`], /"b" is required/],
    [["tools", "call", "demo::add", "--args", `{"a": "1", "b": true}`], /a: .*b: /],
  ])("%j is refused with exit 2", async (args, message) => {
    const { out, err, code } = await run(...args);
    expect({ out, code }).toEqual({ out: "", code: 2 });
    expect(err).toMatch(message);
  });

  it("takes global flags before and after the command", async () => {
    const [before, after] = await Promise.all([run("--json", "tools", "list"), run("tools", "list", "--json")]);
    expect(before.out).toBe(after.out);
    expect(JSON.parse(before.out)).toMatchObject({ items: expect.any(Array) as unknown, problems: [] });
  });

  it("refuses every command but doctor while a setting is wrong, and names all that are", async () => {
    const env = { FSDD_LOOP_PLAN_THRESHOLD: "101", ERGON_STORE: "postgres://localhost" };
    const { out, err, code } = await ergon(["tools", "list"], { cwd: folder.path, env });
    expect({ out, code }).toEqual({ out: "", code: 2 });
    expect(err).toMatch(/FSDD_LOOP_PLAN_THRESHOLD is "101"; it must be a whole number from 1 to 100/);
    expect(err).toMatch(/the Postgres store comes in a later version/);
    expect(err).toMatch(/"ergon doctor" shows every setting/);
  });

  it("warns of a variable that nothing reads, and goes on", async () => {
    const { err, code } = await ergon(["tools", "list"], { cwd: folder.path, env: { ERGON_CAPABILITES: "x" } });
    expect(code).toBe(0);
    expect(err).toBe(`warning: ERGON_CAPABILITES is not a setting of Ergon. Did you mean "ERGON_CAPABILITIES"?\n`);
  });

  it("is quiet when its reader leaves", async () => {
    const command = `"${process.execPath}" "${DOORS.built}" tools list --json | head -c 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)("bash", ["-c", command], { cwd: folder.path });
    expect(stderr).toBe("");
    expect(stdout).toBe("{0\n");
  });

  it("uses no colour where nobody sees it", async () => {
    const { out, err } = await run("tools", "show", "nothing");
    expect(out + err).not.toContain("\u001B");
  });
});
