import { mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isTrustedProject, MAX_TRUSTED_PROJECTS, trustProject } from "./trusted-projects.ts";

let base: string;
let state: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "ergon-projects-")));
  state = join(base, "state");
  for (const name of ["mine", "other"]) mkdirSync(join(base, name));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

it("trusts the folder that was named, and no other", async () => {
  expect(isTrustedProject(state, join(base, "mine"))).toBe(false);
  await trustProject(state, join(base, "mine"));
  expect(isTrustedProject(state, join(base, "mine"))).toBe(true);
  expect(isTrustedProject(state, join(base, "other"))).toBe(false);
  expect(isTrustedProject(state, join(base, "gone"))).toBe(false);
});

it("does not trust a folder that took the place of a trusted one", async () => {
  await trustProject(state, join(base, "mine"));
  renameSync(join(base, "mine"), join(base, "moved"));
  renameSync(join(base, "other"), join(base, "mine"));
  expect(isTrustedProject(state, join(base, "mine"))).toBe(false);
  expect(isTrustedProject(state, join(base, "moved"))).toBe(false);
});

it("keeps a bounded number of folders, the newest", async () => {
  const place = { dev: "1", ino: "1" };
  const listed = Array.from({ length: MAX_TRUSTED_PROJECTS }, (_, n) => ({
    path: n % 2 === 0 ? base : "/gone",
    ...place,
  }));
  mkdirSync(state);
  writeFileSync(join(state, "projects.json"), JSON.stringify(listed), { mode: 0o600 });
  await trustProject(state, join(base, "mine"));
  const kept = JSON.parse(readFileSync(join(state, "projects.json"), "utf8")) as { path: string }[];
  expect(kept).toHaveLength(MAX_TRUSTED_PROJECTS / 2 + 1);
  expect(kept.at(-1)?.path).toBe(join(base, "mine"));
});

it("trusts nothing when its list is damaged, and does not overwrite it", async () => {
  mkdirSync(state);
  writeFileSync(join(state, "projects.json"), "[{", { mode: 0o600 });
  expect(isTrustedProject(state, join(base, "mine"))).toBe(false);
  await expect(trustProject(state, join(base, "mine"))).rejects.toThrow(/JSON/);
  expect(readFileSync(join(state, "projects.json"), "utf8")).toBe("[{");
});
