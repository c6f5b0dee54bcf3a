import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ergon, temporaryFolder } from "./ergon.ts";

const TOOL = `export const definition = { id: "mine::hello", description: "Says hello.", parameters: { type: "object" } };
export const implementation = () => "hello";`;

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  folder.write({ "parts/hello.tool.ts": TOOL });
  writeConfig({ $schema: "x", capabilities: ["parts"] });
});
afterEach(() => folder.remove());

const writeConfig = (settings: object): void => folder.write({ "ergon.config.json": JSON.stringify(settings) });
const run = (...args: readonly string[]) => {
  const env = { XDG_STATE_HOME: join(folder.path, "state") };
  mkdirSync(env.XDG_STATE_HOME, { recursive: true });
  return ergon(args, { cwd: folder.path, env });
};

it("A project's settings do not count before its folder is trusted, and do afterwards.", async () => {
  const before = await run("tools", "call", "mine::hello", "--json");
  expect(before.code).not.toBe(0);
  expect(before.err).toMatch(/ergon\.config\.json is not read: .* ergon trust /);
  const looked = await run("trust", ".", "--dry-run");
  expect(looked.out).toContain('"parts"');
  expect((await run("tools", "call", "mine::hello", "--json")).code).not.toBe(0);
  expect(await run("trust", ".")).toMatchObject({ code: 0 });
  const after = await run("tools", "call", "mine::hello", "--json");
  expect(after, after.err).toMatchObject({ code: 0, err: "" });
  expect(after.out).toContain("hello");
});

it("A misspelt key is an error with a suggestion, and so is a secret.", async () => {
  await run("trust", ".");
  writeConfig({ capabilitys: ["parts"] });
  const misspelt = await run("plans");
  expect(misspelt).toMatchObject({ code: 2 });
  expect(misspelt.err).toMatch(
    /"capabilitys" in .*ergon\.config\.json is not a setting\. Did you mean "capabilities"\?/,
  );
  writeConfig({ token: "t" });
  expect((await run("plans")).err).toMatch(/"token" in .* is not read from a file: set ERGON_TOKEN in the environment/);
});

it("The environment overrides the file, and doctor says where a value came from.", async () => {
  await run("trust", ".");
  writeConfig({ port: 8_111 });
  const { out } = await run("doctor", "--json");
  const { settings } = JSON.parse(out) as { settings: { name: string; shown: string; origin: string }[] };
  expect(settings.find(({ name }) => name === "port")).toMatchObject({
    shown: "8111",
    origin: expect.stringContaining("ergon.config.json") as string,
  });
});
