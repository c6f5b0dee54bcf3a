// The published packages as a new user meets them: packed, installed into an empty folder, run and type-checked there.
import { spawnSync } from "node:child_process";
import {
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import core from "../../packages/core/package.json" with { type: "json" };

const root = join(import.meta.dirname, "../..");
const INSTALL_TIMEOUT_MS = 600_000;
const COMMAND_TIMEOUT_MS = 300_000;
const MB = 1024 * 1024;

let folder: string;
let project: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-packages-")));
  project = join(folder, "project");
  const tarballs = join(folder, "tarballs");
  succeed(process.execPath, ["scripts/pack.ts", "--out", tarballs], root);
  mkdirSync(project);
  write("package.json", JSON.stringify({ type: "module", private: true }));
  mkdirSync(join(project, "tools"));
  write("tools/js.tool.js", TOOL_IN_SANDBOX);
  const files = globSync("ergon-{0,1,2,3,4,5,6,7,8,9,core,node,offline-planner}*.tgz", { cwd: tarballs }).map((file) =>
    join(tarballs, file),
  );
  if (files.length !== 4) throw new Error(`Packed ${files.join(", ")}`);
  succeed("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", ...files], project);
}, INSTALL_TIMEOUT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("ergon without its optional packages", () => {
  it("stays below 80 MB on disk", () => {
    const files = globSync("node_modules/**/*", { cwd: project }).map((file) => lstatSync(join(project, file)));
    expect(files.length).toBeGreaterThan(100);
    expect(files.reduce((total, { size }) => total + size, 0)).toBeLessThan(80 * MB);
  });

  it("says its version, runs a plan and answers a message", () => {
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
    expect(ergon("--version")).toMatchObject({ status: 0, stdout: `ergon ${version}\n` });
    expect(ergon("run", "greet.plan.json", "--input", '{"name":"Ada"}')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/\ncompleted\n$/) as string,
    });
    expect(ergon("ask", 'greet "Ada"')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Hello, Ada") as string,
    });
  });

  it.each([
    { needs: "@ergon/quick-data", of: ["tools", "call", "quick-data::find_data_files", "--args", "{}"] },
    { needs: "@ergon/talent", of: ["tools", "call", "getTalentNames", "--args", "{}"] },
    { needs: "@ergon/encoder", of: ["ask", "greet Ada"], env: { ERGON_EMBEDDER: "bundled" } },
    { needs: "@ergon/models", of: ["ask", "greet Ada"], env: { ERGON_MODEL: "openai/any", OPENAI_API_KEY: "none" } },
    { needs: "@ergon/sandbox", of: ["tools", "call", "own::js", "--args", "{}", "--capabilities", "tools"] },
  ])("says that a command needs $needs", ({ needs, of, env }) => {
    const { status, stderr } = run(process.execPath, [bin(), ...of], project, env);
    expect(stderr).toContain(`npm i ${needs}`);
    expect(status).not.toBe(0);
  });

  it("finds nothing wrong with that", () => {
    expect(ergon("doctor")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("npm i @ergon/sandbox") as string,
    });
  });

  it("lists no tool that cannot run", () => {
    const { stdout } = ergon("tools", "--json");
    expect(stdout).toContain("demo::greet");
    expect(stdout).not.toMatch(/quick-data::|getTalentNames/);
  });
});

describe("the libraries", () => {
  const example = /```ts\n(.*?)```/s.exec(readFileSync(join(root, "packages/core/README.md"), "utf8"))?.[1] ?? "";
  const entries = Object.keys(core.exports).filter((name) => !/contracts|package\.json/.test(name));
  const everyEntry = entries
    .map((name, at) => `import * as e${String(at)} from "@ergon/core${name.slice(1)}";`)
    .join("\n");
  const program = `${everyEntry}
${example}
console.log(JSON.stringify(response), [${entries.map((_, at) => `Object.keys(e${String(at)}).length > 0`).join()}].every(Boolean));\n`;
  const onNode = `import { openSqliteStateStore } from "@ergon/node";\nconst open: (options: never) => unknown = openSqliteStateStore;\nexport { open };\n`;

  it("type-check strictly, declarations included, and refuse a wrong argument", () => {
    write("program.ts", program);
    write("wrong.ts", example.replace("args.article,", "args.artikel,"));
    write("on-node.ts", onNode);
    expect(tsc("--skipLibCheck", "false", "program.ts")).toBe("");
    expect(tsc("--skipLibCheck", "true", "on-node.ts")).toBe("");
    expect(tsc("--skipLibCheck", "true", "wrong.ts")).toContain("artikel");
  }, 240_000);

  it("run in Node and in Deno", () => {
    write("program.ts", program);
    const node = succeed(process.execPath, ["program.ts"], project);
    expect(node).toMatch(/"outcome":"answered".* true\n$/);
    const deno = ["run", "--quiet", "--node-modules-dir=manual", "--no-lock", "--cached-only", "program.ts"];
    const inDeno = succeed(join(root, "node_modules/.bin/deno"), deno, project);
    expect(inDeno).toMatch(/"outcome":"answered".* true\n$/);
    expect(
      succeed(
        process.execPath,
        ["-e", `import("@ergon/node").then((n) => console.log(Object.keys(n).length > 50))`],
        project,
      ),
    ).toBe("true\n");
  }, 240_000);
});

describe("a project that ergon init makes", () => {
  it("passes its own tests and a strict type check, and so do the parts that ergon new adds", () => {
    const made = join(folder, "made");
    mkdirSync(made);
    symlinkSync(join(project, "node_modules"), join(made, "node_modules"));
    const env = { XDG_STATE_HOME: join(folder, "state") };
    const here = (...args: readonly string[]) => run(process.execPath, [bin(), ...args], made, env);
    expect(here("init")).toMatchObject({ status: 0, stderr: expect.stringContaining("npm test") as string });
    expect(here("new", "tool", "shop::charge")).toMatchObject({ status: 0 });
    expect(here("new", "action", "sendLetter")).toMatchObject({ status: 0 });
    expect(here("new", "plan", "order")).toMatchObject({ status: 0 });
    expect(succeed(process.execPath, ["--test"], made)).toMatch(/pass 4\n/);
    const check = run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], made);
    expect(check).toMatchObject({ status: 0, stdout: "" });
    const ran = here("run", "hello", "--input", '{"who":"Ada"}', "--json");
    expect(ran, ran.stderr).toMatchObject({ status: 0 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ finalResponse: "Hello, Ada!" });
    expect(here("init")).toMatchObject({ status: 2, stderr: expect.stringContaining("is there already") as string });
    expect(here("new", "tool", "shop::charge")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("would be overwritten") as string,
    });
  }, 240_000);
});

function bin(): string {
  return join(project, "node_modules/ergon/bin/ergon.js");
}

function ergon(...args: readonly string[]) {
  write(
    "greet.plan.json",
    JSON.stringify({
      planId: "greet",
      description: "Greets a person.",
      startStepId: "greet",
      parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
      steps: [
        {
          id: "greet",
          type: "tool_call",
          toolId: "demo::greet",
          arguments: { who: { jsonPath: "$.promptInput.name" } },
        },
      ],
    }),
  );
  return run(process.execPath, [bin(), ...args], project);
}

const TOOL_IN_SANDBOX = `
export const definition = { id: "own::js", description: "Runs code.", effects: "read", parameters: { type: "object", properties: {} } };
export const implementation = (args, run) => run.sandbox.execute({ language: "javascript", code: "return 1", inputs: {} });
`;

function tsc(...args: readonly string[]): string {
  const options = ["--strict", "--noEmit", "--module", "nodenext", "--target", "es2023"];
  return run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...options, ...args], project).stdout;
}

function write(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

function succeed(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = run(command, args, cwd);
  expect({ status, stderr: status === 0 ? "" : `${stdout}${stderr}` }).toEqual({ status: 0, stderr: "" });
  return stdout;
}

function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: "utf8",
    timeout: COMMAND_TIMEOUT_MS,
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}
