import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { MAX_INDEX_BYTES, trackedBy } from "./git-index.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ergon-git-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let made = 0;

const NAMES = ["a", ".ergo", ".ergon-too/x", "src/.ergon/x", "z/deep/er/file", "long".repeat(1_100)];

describe("a folder of a repository", () => {
  it.each([
    ["version 2", [], []],
    ["version 3", [], ["add", "--intent-to-add", "later"]],
    ["version 4", [], ["update-index", "--index-version", "4"]],
    ["split", [], ["update-index", "--split-index"]],
    ["SHA-256", ["--object-format=sha256"], []],
    ["SHA-256, version 4", ["--object-format=sha256"], ["update-index", "--index-version", "4"]],
  ])("is tracked when the index has a file of it: %s", (_, init, then) => {
    const repository = newRepository(init);
    write(repository, NAMES.slice(0, 5));
    write(repository, ["later"]);
    // Too long for the disk, not for the index.
    const hash = git(repository, "hash-object", "-w", "a").trim();
    git(repository, "add", ".", ":!later");
    git(repository, "update-index", "--add", "--cacheinfo", `100644,${hash},${String(NAMES[5])}`);
    if (then.length > 0) git(repository, ...then);
    expect(trackedBy(join(repository, ".ergon"))).toBe(undefined);
    expect(trackedBy(join(repository, "z/deep"))).toBe(repository);
    write(repository, [".ergon/subagent.db"]);
    expect(trackedBy(join(repository, ".ergon"))).toBe(undefined);
    git(repository, "add", "-f", ".ergon/subagent.db");
    expect(trackedBy(join(repository, ".ergon"))).toBe(repository);
    git(repository, "rm", "-rq", "--cached", ".ergon");
    expect(trackedBy(join(repository, ".ergon"))).toBe(undefined);
  });

  it("is tracked under a name that differs in case: some disks take them for one", () => {
    const repository = newRepository();
    write(repository, [".Ergon/token"]);
    git(repository, "add", "-f", ".");
    expect(trackedBy(join(repository, ".ergon"))).toBe(repository);
  });

  it("is tracked by a worktree of its own, by a repository far above, and as a submodule", () => {
    const repository = newRepository();
    write(repository, ["a", "sub/.ergon/id"]);
    git(repository, "add", "-f", ".");
    expect(trackedBy(join(repository, "sub/.ergon"))).toBe(repository);
    git(repository, "commit", "-qm", "x");
    const worktree = `${repository}-tree`;
    git(repository, "worktree", "add", "-q", worktree);
    expect(trackedBy(join(worktree, "sub/.ergon"))).toBe(worktree);
    const outer = newRepository();
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository, ".ergon");
    expect(trackedBy(join(outer, ".ergon"))).toBe(join(outer, ".ergon"));
    rmSync(join(outer, ".ergon"), { recursive: true });
    expect(trackedBy(join(outer, ".ergon"))).toBe(outer);
  });

  it("is not tracked where there is no repository, or one without an index", () => {
    expect(trackedBy(join(root, "nothing/here"))).toBe(undefined);
    expect(trackedBy(join(newRepository(), ".ergon"))).toBe(undefined);
  });

  it("runs nothing that the repository names", () => {
    const repository = newRepository();
    write(repository, ["a"]);
    git(repository, "add", ".");
    const proof = join(root, "proof");
    git(repository, "config", "core.fsmonitor", `touch ${proof}; false`);
    trackedBy(join(repository, ".ergon"));
    expect(existsSync(proof)).toBe(false);
  });

  it("is not called untracked when the index makes no sense", () => {
    const repository = newRepository();
    write(repository, ["a"]);
    git(repository, "add", ".");
    const index = join(repository, ".git/index");
    const bytes = readFileSync(index);
    for (const broken of [bytes.subarray(0, 60), Buffer.from("DIRC"), Buffer.from(bytes).fill(9, 73, 74)]) {
      writeFileSync(index, broken);
      expect(() => trackedBy(join(repository, ".ergon"))).toThrow("form that is not known");
    }
    truncateSync(index, MAX_INDEX_BYTES + 1);
    expect(() => trackedBy(join(repository, ".ergon"))).toThrow("has more than");
  });
});

function newRepository(init: readonly string[] = []): string {
  made += 1;
  const path = join(root, String(made));
  mkdirSync(path);
  git(path, "init", "-q", ...init);
  return path;
}

function write(repository: string, names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(join(repository, name)), { recursive: true });
    writeFileSync(join(repository, name), name);
  }
}

function git(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
  const who = ["-c", "user.name=t", "-c", "user.email=t@t.example"];
  return execFileSync("git", [...who, ...args], { cwd, env, encoding: "utf8" });
}
