import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MANIFEST_FILE } from "./manifest.ts";

const definition = (id: string, rest = "") =>
  `export const definition = { id: "${id}", description: "d", parameters: { type: "object" }${rest} };`;
const implementation = `export const implementation = async (args) => ({ args });`;
const action = (
  id: string,
  rest = "",
) => `{ id: "${id}", title: "t", description: "d", applicableRoles: [], capabilityTags: [], tags: [],
  suggestedPrerequisites: [], suggestedPostrequisites: [], usesAI: false, actionFn: async () => ({ success: true })${rest} }`;

const PLAN = { planId: "p", startStepId: "a", steps: [{ id: "a", type: "final_response", message: "m" }] };

const GOOD = {
  "tools/one.tool.ts": `${definition("t::one")}\n${implementation}`,
  "tools/two.tool.js": `exports.definition = { id: "t::two", description: "d", parameters: {}, effects: "read" };\nexports.implementation = () => 2;`,
  "tools/three.tool.ts": `import { defineTool } from "@ergon/core"; import { z } from "zod";
export default defineTool({ name: "t::three", description: "d", input: z.object({ a: z.string() }), run: ({ a }) => a });`,
  "byDefault/action.ts": `import { z } from "zod"; export default ${action("byDefault", `, argsSchema: z.object({ a: z.string() })`)};`,
  "byName/action.ts": `export const helper = { id: "not one" }; export const byName = ${action("byName")};`,
  "byBoth/action.ts": `export const byBoth = ${action("byBoth")}; export default byBoth;`,
  "inCommonJs/action.js": `module.exports = ${action("inCommonJs")};`,
};

const BROKEN: Readonly<Record<string, readonly [source: string, code: string, reason: RegExp]>> = {
  "no-exports.tool.ts": ["export const x = 1;", "capability_broken", /does not export definition and implementation/],
  "no-code.tool.ts": [definition("t::x"), "capability_broken", /does not export implementation/],
  "wrong-shape.tool.ts": [
    `export const definition = { id: "bad id!", parameters: 5, effects: "maybe" };\nexport const implementation = 3;`,
    "tool_invalid",
    /implementation|id: .*description: .*parameters: .*effects: /,
  ],
  "wrong-schema.tool.ts": [
    `${implementation}\nexport const definition = { id: "t::s", description: "d", parameters: { type: "objekt" } };`,
    "schema_invalid",
    /objekt|type/,
  ],
  "hangs.tool.ts": [`${implementation}\nawait new Promise(() => {});`, "capability_broken", /took more than/],
  "no-action/action.ts": [`export const a = 1; export default "text";`, "capability_broken", /exports no action/],
  "two-actions/action.ts": [
    `export const a = ${action("a")}; export const b = ${action("b")};`,
    "capability_broken",
    /exports a and b; .* one action/,
  ],
  "infrastructure/action.ts": [
    `import { z } from "zod"; export default ${action("infra", `, argsSchema: z.object({ sessionId: z.string() })`)};`,
    "infrastructure_in_args",
    /"sessionId"/,
  ],
};

type Problem = { readonly file: string; readonly code: string; readonly reason: string };

let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-folder-")));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a folder with good and broken files", () => {
  let tools: readonly {
    readonly id: string;
    readonly origin: string;
    readonly source: string;
    readonly effects: string;
  }[];
  let problems: readonly Problem[];
  let plans: readonly string[];

  beforeAll(() => {
    const broken = Object.fromEntries(Object.entries(BROKEN).map(([file, [source]]) => [file, source]));
    write("mixed", { ...GOOD, ...broken, "a.plan.json": JSON.stringify(PLAN) });
    ({ tools, problems, plans } = run<{ tools: typeof tools; problems: typeof problems; plans: typeof plans }>(`
      const { tools, problems } = await loadFolder(folder + "/mixed", { hooks, loadTimeoutMs: 1000 });
      const { plans } = await folderPlans(folder + "/mixed");
      answer({ tools, problems, plans: plans.map(({ id }) => id) });`));
  }, 30_000);

  it("gives every good tool, action and plan", () => {
    expect(tools.map(({ id, origin, effects }) => [id, origin, effects])).toEqual([
      ["byBoth", "action", "once"],
      ["byDefault", "action", "once"],
      ["byName", "action", "once"],
      ["inCommonJs", "action", "once"],
      ["t::one", "tool", "pure"],
      ["t::three", "registered", "once"],
      ["t::two", "tool", "read"],
    ]);
    expect(tools[4]?.source).toBe(join(folder, "mixed/tools/one.tool.ts"));
    expect(plans).toEqual(["p"]);
  });

  it.each(Object.entries(BROKEN))("reports %s by file and reason", (file, [, code, reason]) => {
    const found = problems.filter((problem) => problem.file === join(folder, "mixed", file));
    expect(found.map((problem) => problem.code)).toEqual([code]);
    expect(found[0]?.reason).toMatch(reason);
  });

  it("reports nothing else", () => {
    expect(problems).toHaveLength(Object.keys(BROKEN).length);
  });
});

describe("a pack with a manifest", () => {
  beforeAll(() => {
    write("pack", {
      "lazy.tool.js": `globalThis.isLoaded = true;\n${definition("t::lazy", ", timeoutMs: 5000")}\n${implementation}`,
      "doing/action.js": `export default ${action("doing")};`,
      "sub/a.plan.json": JSON.stringify(PLAN),
    });
    const manifest = run(`answer(await describeCapabilities(folder + "/pack"));`);
    write("pack", { [MANIFEST_FILE]: JSON.stringify(manifest) });
  }, 30_000);

  it("lists its tools without loading them, and loads one at its first call", () => {
    const report = run(`
      const { plans } = await packPlans(folder + "/pack");
      const { tools } = await loadPack(folder + "/pack", { hooks });
      const before = globalThis.isLoaded ?? false;
      const body = await tools[1].body();
      const output = await body.run({ args: { a: 1 }, context: {}, infrastructure: {} }, {});
      answer({ tools, plans, before, after: globalThis.isLoaded, output });`);
    expect(report).toMatchObject({
      tools: [
        { id: "doing", origin: "action", effects: "once", source: join(folder, "pack/doing/action.js") },
        { id: "t::lazy", origin: "tool", effects: "pure", timeoutMs: 5000, parameters: { type: "object" } },
      ],
      before: false,
      after: true,
      output: { args: { a: 1 } },
      plans: [{ id: "p", file: join(folder, "pack/sub/a.plan.json"), plan: PLAN }],
    });
  });

  it("is refused when its manifest is of another version", () => {
    write("old", { [MANIFEST_FILE]: JSON.stringify({ version: 1, tools: [], plans: [] }) });
    const message = run(
      `answer(await packPlans(folder + "/old").then(() => "read", ({ code, message }) => code + " " + message));`,
    );
    expect(message).toMatch(/^capability_broken .*manifest\.json: It has the version 1, not 2\.$/s);
  });

  it("is not described when anything in it is broken or there twice", () => {
    write("bad", {
      "a.tool.js": `${definition("t::a")}${implementation}`,
      "b.tool.js": `${definition("t::a")}${implementation}`,
      "c.tool.js": "{",
    });
    const message = run(
      `answer(await describeCapabilities(folder + "/bad").then(() => "described", (error) => error.message));`,
    );
    expect(message).toMatch(/c\.tool\.js: Syntax error[^]*b\.tool\.js: "t::a" is in .*a\.tool\.js too/);
  });
});

function write(name: string, files: Readonly<Record<string, string>>): void {
  for (const [file, source] of Object.entries(files)) {
    const path = join(folder, name, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source);
  }
}

/** In a process of its own: the test runner has its own way of importing. */
function run<T = unknown>(code: string): T {
  const script = `
    import { installModuleHooks } from "./module-hooks.ts";
    import { loadFolder } from "./load-folder.ts";
    import { folderPlans } from "./load-plans.ts";
    import { describeCapabilities, loadPack, packPlans } from "./manifest.ts";
    const folder = ${JSON.stringify(folder)};
    const hooks = installModuleHooks({ zod: import.meta.resolve("zod"), "@ergon/core": import.meta.resolve("@ergon/core") });
    const answer = (value) => { console.log(JSON.stringify(value)); process.exit(0); };
    ${code}`;
  const child = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
    cwd: import.meta.dirname,
    encoding: "utf8",
  });
  if (child.stderr !== "") throw new Error(`It wrote to stderr: ${child.stderr}`);
  return JSON.parse(child.stdout) as T;
}
