import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_DEPTH, MAX_FILES, scanFolder } from "./scan-folder.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "ergon-scan-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("finds tools, actions and plans at any depth, in a stable order", async () => {
  write(
    "b.tool.ts",
    "a/deep/er/x.tool.js",
    "getGaps/action.ts",
    "old/action.js",
    "plans/p.plan.json",
    "q.plan.yaml",
    "r.plan.yml",
  );
  expect(await found()).toEqual([
    "tool a/deep/er/x.tool.js",
    "tool b.tool.ts",
    "action getGaps/action.ts",
    "action old/action.js",
    "plan plans/p.plan.json",
    "plan q.plan.yaml",
    "plan r.plan.yml",
  ]);
});

it("leaves everything else alone", async () => {
  write(
    "a.tool.test.ts",
    ".tool.ts",
    "a.tool.d.ts",
    "tool.ts",
    "action.test.ts",
    "p.plan.txt",
    "plan.json",
    "buildPrompt.ts",
  );
  write("node_modules/x/x.tool.ts", ".git/y.tool.ts", "sub/node_modules/z.tool.ts");
  expect(await found()).toEqual([]);
});

it("looks into a named folder even when it lies under node_modules or begins with a dot", async () => {
  write("node_modules/.hidden/x.tool.ts");
  const scan = await scanFolder(join(folder, "node_modules/.hidden"));
  expect(scan.files).toHaveLength(1);
});

it.each([
  ["gone", /does not exist/],
  ["a.tool.ts", /is a file/],
])("reports %s, which is no folder", async (name, reason) => {
  write("a.tool.ts");
  const scan = await scanFolder(join(folder, name));
  expect(scan.files).toEqual([]);
  expect(scan.problems[0]?.reason).toMatch(reason);
});

describe("links", () => {
  it("are followed inside the folder, once, and circles end", async () => {
    write("real/a.tool.ts", ".kept/b.tool.ts");
    symlinkSync(folder, join(folder, "real/circle"));
    symlinkSync(join(folder, "real"), join(folder, "again"));
    symlinkSync(join(folder, ".kept"), join(folder, "kept"));
    symlinkSync(join(folder, "real/a.tool.ts"), join(folder, "c.tool.ts"));
    expect(await found()).toEqual(["tool .kept/b.tool.ts", "tool real/a.tool.ts"]);
  });

  it("that leave the folder, lead nowhere or to themselves are reported", async () => {
    write("in/a.tool.ts", "out/b.tool.ts");
    symlinkSync("../out", join(folder, "in/out"));
    symlinkSync("nowhere", join(folder, "in/lost"));
    symlinkSync("self", join(folder, "in/self"));
    const scan = await scanFolder(join(folder, "in"));
    expect(scan.files).toHaveLength(1);
    expect(scan.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("leads nowhere"),
      expect.stringContaining("leaves the folder"),
      expect.stringContaining("to itself"),
    ]);
  });

  it("may be the folder itself", async () => {
    write("real/a.tool.ts");
    symlinkSync(join(folder, "real"), join(folder, "link"));
    expect((await scanFolder(join(folder, "link"))).root).toBe(join(folder, "real"));
  });
});

describe("bounds", () => {
  it(`looks ${MAX_DEPTH} folders deep and reports what lies deeper`, async () => {
    const deepest = Array.from({ length: MAX_DEPTH }, () => "d").join("/");
    write(`${deepest}/a.tool.ts`);
    expect((await scanFolder(folder)).problems).toEqual([]);
    write(`${deepest}/d/b.tool.ts`);
    const scan = await scanFolder(folder);
    expect(scan.files).toHaveLength(1);
    expect(scan.problems[0]?.reason).toContain(`below ${MAX_DEPTH} levels`);
  });

  it(`takes ${MAX_FILES} files and reports that there are more`, async () => {
    write(...Array.from({ length: MAX_FILES }, (_, index) => `t${index}.tool.ts`));
    expect(await scanFolder(folder)).toMatchObject({ problems: [], files: { length: MAX_FILES } });
    write("zz.tool.ts");
    const scan = await scanFolder(folder);
    expect(scan.files).toHaveLength(MAX_FILES);
    expect(scan.problems[0]?.reason).toContain(`More than ${MAX_FILES}`);
  });
});

function write(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
}

async function found(): Promise<string[]> {
  const scan = await scanFolder(folder);
  expect(scan.problems).toEqual([]);
  return scan.files.map(({ kind, file }) => `${kind} ${relative(folder, file)}`);
}
