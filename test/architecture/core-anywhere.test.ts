import { spawnSync } from "node:child_process";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";
import { readText, repositoryFiles, root } from "./source-files.ts";

describe("core runs anywhere", () => {
  it("compiles with no Node types in sight", { timeout: 240_000 }, () => {
    const { status, stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", "packages/core", "--listFiles"], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: 64 * 1024 * 1024,
    });
    const lines = stdout.split("\n");
    expect(lines.filter((line) => / error TS/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.includes("node_modules/@types/"))).toEqual([]);
    expect(lines.some((line) => line.endsWith("packages/core/src/index.ts"))).toBe(true);
    expect(status).toBe(0);
  });

  it.each(repositoryFiles(/^packages\/core\/src\/[^/]+\.ts$/))("reaches no node: module from %s", async (entry) => {
    const { modules, builtins } = await reachableFrom(entry);
    expect(builtins).toEqual([]);
    expect(modules.some((id) => id.includes("node_modules/zod/"))).toBe(true);
  });

  it("exports at most 60 names from its root", () => {
    const statements = readText("packages/core/src/index.ts").matchAll(/^export (?:type )?\{([^}]*)\}/gm);
    const names = [...statements].flatMap(([, list = ""]) => list.split(",").filter((name) => name.trim() !== ""));
    expect(names.length).toBeGreaterThan(10);
    expect(names.length).toBeLessThanOrEqual(60);
  });

  it("loads no test runner from its entry for tests", async () => {
    const { modules } = await reachableFrom("packages/core/testing/index.ts");
    expect(modules.some((id) => id.endsWith("/mock-tools.ts"))).toBe(true);
    expect(modules.filter((id) => /vitest|fast-check/.test(id))).toEqual([]);
  });

  it("takes time, chance and environment from its ports", () => {
    const forbidden = /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\brandomUUID\(|\bperformance\.now\(|\bprocess\./;
    // memory/ holds core's own implementations of the ports.
    const sources = repositoryFiles(/^packages\/core\/src\/(?!memory\/).*(?<!\.test)\.ts$/);
    expect(sources).not.toEqual([]);
    expect(sources.filter((file) => forbidden.test(readText(file)))).toEqual([]);
  });
});

async function reachableFrom(entry: string): Promise<{ modules: string[]; builtins: string[] }> {
  const names = new Set(builtinModules);
  const builtins: string[] = [];
  const build = await rolldown({
    cwd: root,
    input: entry,
    platform: "neutral",
    resolve: { mainFields: ["module", "main"], conditionNames: ["import", "default"] },
    plugins: [
      {
        name: "note-builtins",
        resolveId(id, importer) {
          if (!id.startsWith("node:") && !names.has(id)) return null;
          builtins.push(`${importer ?? entry} imports ${id}`);
          return { id, external: true };
        },
      },
    ],
  });
  const { output } = await build.generate({ format: "esm" });
  await build.close();
  return { modules: output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : [])), builtins };
}
