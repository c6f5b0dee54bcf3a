import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

const root = mkdtempSync(join(tmpdir(), "ergon-make-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("a folder", () => {
  it("is made with all that are absent above it, for this user alone; twice is once", () => {
    const folder = join(root, "a", "b", "c");
    makeFolder(folder);
    makeFolder(folder);
    for (const made of [join(root, "a"), folder]) expect(statSync(made).mode & 0o777).toBe(0o700);
  });

  it("is refused where a file stands", () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    expect(() => makeFolder(file)).toThrow("EEXIST");
    expect(() => makeFolder(join(file, "below", "it"))).toThrow("ENOTDIR");
  });

  it.runIf(existsSync("/proc/self"))("is refused at once where none can be made", () => {
    const script = `import { makeFolder } from ${JSON.stringify(join(import.meta.dirname, "make-folder.ts"))}; makeFolder("/proc/none/here");`;
    // In a process of its own, which can be ended: what is to be seen is that it comes back.
    const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
      timeout: 20_000,
    });
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining("ENOENT") as string });
  });
});
