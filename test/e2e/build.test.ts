import { execFileSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const dist = join(root, "apps/ergon/dist");

beforeAll(build);

describe("what npm ci builds", () => {
  it("stays in place when nothing changed", () => {
    const before = statSync(dist).ino;
    build();
    expect(statSync(dist).ino).toBe(before);
  });

  it("gives users' tools the runtime's own core and zod, not copies", async () => {
    const core = await importBuilt("core.js");
    const zod = await importBuilt("zod.js");
    expect(core["AgenticPlan"]).toBeInstanceOf(zod["ZodType"]);
  });

  it("describes every built tool in the manifest, by a file that is there", () => {
    const folder = join(dist, "capabilities");
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as { tools: { file: string }[] };
    const files = manifest.tools.map(({ file }) => file);
    expect(files).not.toEqual([]);
    expect(new Set(files)).toEqual(new Set(globSync("**/{*.tool,action}.js", { cwd: folder })));
  });

  it.each(["mcp", "plans", "tools-list"])(
    "loads nothing of the work on a data folder for the command %s",
    (command) => {
      const chunks = globSync("chunks/*.js", { cwd: dist });
      const [start, ...others] = chunks.filter((file) => new RegExp(`^chunks/${command}-[\\w-]{8}\\.js$`).test(file));
      expect(others).toEqual([]);
      const loaded = new Set([start ?? ""]);
      for (const file of loaded) {
        const source = readFileSync(join(dist, file), "utf8");
        for (const [, from = ""] of source.matchAll(/^import .* from "\.\/(.+)";$/gm)) loaded.add(`chunks/${from}`);
      }
      expect([...loaded].filter((file) => /base-/.test(file))).toHaveLength(1);
      expect([...loaded].filter((file) => /work-|server-/.test(file))).toEqual([]);
    },
  );

  it("names no path of the machine that built it", () => {
    const files = globSync("**/*.{js,json}", { cwd: dist });
    expect(files.filter((file) => readFileSync(join(dist, file), "utf8").includes(root))).toEqual([]);
  });
});

function build(): void {
  execFileSync(process.execPath, ["scripts/build.ts"], { cwd: root, stdio: "pipe" });
}

async function importBuilt(file: string): Promise<Record<string, unknown>> {
  return (await import(pathToFileURL(join(dist, file)).href)) as Record<string, unknown>;
}
