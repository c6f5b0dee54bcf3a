import { spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { finish, plainEnvironment, temporaryFolder } from "./ergon.ts";
import { serveFolder, type ServedFolder } from "./served.ts";

const root = join(import.meta.dirname, "../..");
const guide = readFileSync(join(root, "docs/guides/library.md"), "utf8");
const files = [...guide.matchAll(/^```ts\n\/\/ (\S+)\n([^]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}));
const commands = [...guide.matchAll(/^```console\n\$ node (\S+)\n([^]*?)^```$/gm)];

let folder: ReturnType<typeof temporaryFolder>;
let server: ServedFolder;

beforeAll(async () => {
  folder = temporaryFolder();
  folder.write(Object.fromEntries(files.map(({ name, code }) => [name, code])));
  folder.write({ "package.json": JSON.stringify({ type: "module" }) });
  symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
  server = await serveFolder(join(folder.path, "served"), { cwd: folder.path, args: ["--capabilities", "own"] });
});
afterAll(async () => {
  await server.stop("SIGTERM");
  folder.remove();
});

describe("the library guide", () => {
  it("has no block that these tests do not run", () => {
    expect(files.length + commands.length).toBe([...guide.matchAll(/^```\w/gm)].length);
    expect(commands.length).toBeGreaterThan(4);
  });

  it.each(commands.map(([, file = "", output = ""]) => ({ file, output })))(
    "$file prints what it says",
    async (one) => {
      const env = { ...plainEnvironment(), ERGON_URL: server.url, ERGON_TOKEN: server.token };
      const only = one.file === "connect.ts" ? env : plainEnvironment();
      const child = spawn(process.execPath, [one.file], { cwd: folder.path, env: only });
      const { out, err, code } = await finish(child);
      expect({ out, code }, err).toEqual({ out: one.output, code: 0 });
    },
  );
});
