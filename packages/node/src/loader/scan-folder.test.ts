import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SCAN_LIMITS, scanFolder } from "./scan-folder.ts";

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
  const limits = { files: 5, entries: 8, depth: 2 };

  it("looks as deep as it may and reports what lies deeper", async () => {
    write("d/d/a.tool.ts");
    expect((await scanFolder(folder, limits)).problems).toEqual([]);
    write("d/d/d/b.tool.ts");
    const scan = await scanFolder(folder, limits);
    expect(scan.files).toHaveLength(1);
    expect(scan.problems.map(({ reason }) => reason)).toEqual(["Folders below 2 levels are not looked into."]);
  });

  it("takes as many files as it may and reports that there are more", async () => {
    write("1.tool.ts", "2.tool.ts", "3.tool.ts", "4.tool.ts", "5.tool.ts");
    expect((await scanFolder(folder, limits)).problems).toEqual([]);
    write("6.tool.ts", "7.tool.ts");
    const scan = await scanFolder(folder, limits);
    expect(scan.files).toHaveLength(5);
    expect(scan.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("More than 5 capability files"),
    ]);
  });

  it("looks at as many entries as it may and reports that there are more", async () => {
    write("a/1", "a/2", "a/3", "b/1", "b/2", "b/3");
    expect((await scanFolder(folder, limits)).problems).toEqual([]);
    write("b/4");
    const scan = await scanFolder(folder, limits);
    expect(scan.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("More than 8 files and folders"),
    ]);
  });

  it("is generous by default", () => {
    expect(SCAN_LIMITS).toEqual({ files: 10_000, entries: 200_000, depth: 32 });
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
