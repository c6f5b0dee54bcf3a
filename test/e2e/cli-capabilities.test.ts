import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";

const tool = (name: string) => `import type { ToolDefinition } from "@ergon/core";
export const definition: ToolDefinition = { id: "mine::${name}", description: "Mine", parameters: { type: "object", properties: { n: { type: "number" } } } };
export const implementation = async ({ n }: { n?: number }) => ({ twice: 2 * (n ?? 0) });
`;
const withZod = `import { z } from "zod";
import { defineAction } from "@ergon/core";
export default defineAction({ id: "withZod", description: "Uses our zod", effects: "pure",
  argsSchema: z.object({ n: z.number().default(4) }),
  actionFn: async ({ args }) => ({ success: true, data: { twice: 2 * args.n } }) });
`;
const commonJs = `const { z } = require("zod");
exports.definition = { id: "mine::commonJs", description: "Mine", parameters: z.toJSONSchema(z.object({ n: z.number() })) };
exports.implementation = async ({ n }) => ({ twice: 2 * n });
`;

type Problem = { readonly file: string; readonly code: string; readonly reason: string };

let folder: ReturnType<typeof temporaryFolder>;
let capabilities: readonly string[];

beforeAll(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder.path, "initialised"));
  execFileSync("npm", ["init", "-y"], { cwd: join(folder.path, "initialised"), stdio: "ignore" });
  folder.write({
    "initialised/tools/initialised.tool.ts": tool("initialised"),
    "bare/bare.tool.ts": tool("bare"),
    "bare/withZod/action.ts": withZod,
    "commonjs/package.json": `{"type": "commonjs"}`,
    "commonjs/commonjs.tool.ts": tool("commonjs"),
    "node_modules/pack/installed.tool.ts": tool("installed"),
    "javascript/old.tool.js": commonJs,
  });
  capabilities = ["initialised", "bare", "commonjs", "node_modules/pack", "javascript"];
});
afterAll(() => folder.remove());

describe.each(["built", "sources"] as const)("users' folders (%s)", (door) => {
  it("all load, without a word", async () => {
    const flags = capabilities.flatMap((name) => ["--capabilities", name]);
    const { out, err, code } = await ergon(["tools", "list", "--json", ...flags], { cwd: folder.path, door });
    expect({ err, code }).toEqual({ err: "", code: 0 });
    const { items, problems } = JSON.parse(out) as { items: { id: string }[]; problems: unknown[] };
    expect(problems).toEqual([]);
    expect(items.map(({ id }) => id)).toEqual(
      expect.arrayContaining([
        "demo::greet",
        "mine::bare",
        "mine::commonJs",
        "mine::commonjs",
        "mine::initialised",
        "mine::installed",
        "withZod",
      ]),
    );
  });

  it("an action's schema is of our zod, defaults included", async () => {
    const args = [
      "tools",
      "call",
      "withZod",
      "--json",
      "--capabilities",
      "bare",
      "--data",
      join(folder.path, `data-${door}`),
    ];
    const { out } = await ergon(args, { cwd: folder.path, door });
    expect(JSON.parse(out)).toEqual({ output: { success: true, data: { twice: 8 } } });
  });
});

it.each(["mine::bare", "mine::commonJs", "mine::commonjs", "mine::initialised", "mine::installed"])(
  "%s can be called",
  async (id) => {
    const env = { ERGON_CAPABILITIES: capabilities.join(delimiter) };
    const args = ["tools", "call", id, "--args", `{"n": 4}`, "--json", "--data", join(folder.path, `data-${id}`)];
    expect(await ergon(args, { cwd: folder.path, env })).toEqual({
      out: `{"output":{"twice":8}}\n`,
      err: "",
      code: 0,
    });
  },
);

describe("broken files", () => {
  beforeAll(() => {
    folder.write({
      "broken/fine.tool.ts": tool("fine"),
      "broken/again.tool.ts": tool("fine"),
      "broken/ours.tool.ts": tool("x").replace("mine::x", "demo::greet"),
      "broken/syntax.tool.ts": "export const a = 1;\nexport const b: = 2;\n",
      "broken/empty.tool.ts": "export {};",
      "broken/loud.tool.ts": `console.log("noise"); process.stdout.write("noise"); process.emitWarning("noise"); Promise.reject(new Error("left behind"));\n${tool("loud")}`,
      "broken/infra/action.ts": withZod.replace("n: z.number()", "sessionId: z.string(), n: z.number()"),
      "broken/bad.plan.json": `{"planId": 1,}`,
    });
  });

  it("are reported by file and reason, and do not stop the rest", async () => {
    const { out, err, code } = await ergon(["tools", "list", "--json", "--capabilities", "broken"], {
      cwd: folder.path,
    });
    expect(code).toBe(0);
    expect(err).toMatch(/warning: a promise was left rejected: left behind/);
    const { items, problems } = JSON.parse(out) as { items: { id: string }[]; problems: Problem[] };
    expect(items.map(({ id }) => id)).toEqual(expect.arrayContaining(["mine::fine", "mine::loud", "demo::greet"]));
    const found = Object.fromEntries(
      problems.map(({ file, code: why, reason }) => [file.slice(folder.path.length + 8), `${why}: ${reason}`]),
    );
    expect(Object.keys(found).sort()).toEqual([
      "empty.tool.ts",
      "fine.tool.ts",
      "infra/action.ts",
      "ours.tool.ts",
      "syntax.tool.ts",
    ]);
    expect(found["fine.tool.ts"]).toMatch(/tool_duplicate: .*again\.tool\.ts.*fine\.tool\.ts/);
    expect(found["ours.tool.ts"]).toMatch(/tool_duplicate: .*greet.*ours\.tool\.ts/);
    expect(found["syntax.tool.ts"]).toMatch(/capability_broken: Syntax error at line 2/);
    expect(found["empty.tool.ts"]).toMatch(/does not export definition and implementation/);
    expect(found["infra/action.ts"]).toMatch(/infrastructure_in_args/);
  });

  it("are warnings beside the list for people, and problems for the doctor", async () => {
    const list = await ergon(["tools", "list", "--capabilities", "broken"], { cwd: folder.path });
    expect(list).toMatchObject({ code: 0 });
    expect(list.err).toMatch(/warning: .*syntax\.tool\.ts: Syntax error at line 2/);
    const doctor = await ergon(["doctor", "--json", "--capabilities", "broken"], { cwd: folder.path });
    expect(doctor.code).toBe(1);
    const { problems } = JSON.parse(doctor.out) as { problems: string[] };
    expect(problems).toHaveLength(6);
    expect(problems.join("\n")).toMatch(/bad\.plan\.json: It is not JSON: .* line 1, column 14/);
  });

  it("a folder that is not there is one problem", async () => {
    const { out, code } = await ergon(["tools", "list", "--json", "--capabilities", "gone"], { cwd: folder.path });
    expect(code).toBe(0);
    const { problems } = JSON.parse(out) as { problems: Problem[] };
    expect(problems.map(({ file, reason }) => [file, reason])).toEqual([
      [join(folder.path, "gone"), "This folder does not exist."],
    ]);
  });
});

it("a folder in the working directory is not loaded unless it is named", async () => {
  folder.write({
    "capabilities/mine.tool.ts": tool("uninvited"),
    ".ergon/config.json": `{"capabilities": ["../capabilities"]}`,
  });
  const { out } = await ergon(["tools", "list", "--json"], { cwd: folder.path });
  expect(out).not.toContain("mine::uninvited");
});
