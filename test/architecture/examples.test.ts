import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./source-files.ts";

const folder = join(root, "examples");
const examples = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }).filter((e) => e.isDirectory()) : [];

describe("every example", () => {
  it("is numbered and has a run.ts", () => {
    expect(examples).not.toEqual([]);
    for (const { name } of examples) {
      expect(name).toMatch(/^\d\d-[a-z0-9-]+$/);
      expect(existsSync(join(folder, name, "run.ts")), `${name}/run.ts`).toBe(true);
    }
  });

  it.each(examples.map(({ name }) => name))("%s runs and checks itself", { timeout: 300_000 }, (name) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["run.ts"], {
      cwd: join(folder, name),
      encoding: "utf8",
      timeout: 290_000,
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
  });
});
