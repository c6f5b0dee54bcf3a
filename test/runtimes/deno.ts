// Runs the tests of core, the offline planner and the edge function under Deno. The script behind it grants no file, network
// or process access: they need none, and this proves it. (It may read the few variables by which Vitest's matchers decide whether to colour a diff.)
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TestCounts = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: readonly string[];
  /** Named once more at the end, where a reader of a long log looks first. */
  readonly failures: readonly string[];
};

const MAX_OUTPUT = 64 * 1024 * 1024;

const root = join(import.meta.dirname, "../..");

export function runDenoTests(filters: readonly string[]): TestCounts {
  const files = globSync("{packages/core/{src,testing},packages/offline-planner/src,supabase/functions}/**/*.test.ts", {
    cwd: root,
  }).filter((file) => filters.length === 0 || filters.some((part) => file.includes(part)));
  return files.length === 0 ? { passed: 0, failed: 0, skipped: [], failures: [] } : runUnderDeno(files.sort(), "show");
}

/** What Deno prints is shown only when a test failed: away from a terminal it gives each passed test a line of its own. */
export function runUnderDeno(files: readonly string[], output: "show" | "hide"): TestCounts {
  const scratch = mkdtempSync(join(tmpdir(), "ergon-deno-"));
  try {
    const report = join(scratch, "junit.xml");
    const flags = ["--reporter=dot", `--junit-path=${report}`];
    const { status, stdout, stderr } = spawnSync("npm", ["run", "--silent", "test:deno", "--", ...flags, ...files], {
      cwd: root,
      encoding: "utf8",
      maxBuffer: MAX_OUTPUT,
      env: { ...process.env, DENO_DIR: join(root, "node_modules/.cache/deno"), DENO_NO_UPDATE_CHECK: "1" },
    });
    if (output === "show" && status !== 0) console.log(stdout, stderr);
    const counts = countResults(readFileSync(report, "utf8"), status === 0);
    if (output === "show") console.log(`under Deno: ${counts.passed} passed, ${counts.failed} failed\n`);
    return counts;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A file that does not load is no test in the report: then only Deno's exit status tells. */
function countResults(report: string, succeeded: boolean): TestCounts {
  const cases = report.match(/<testcase [\s\S]*?<\/testcase>/g) ?? [];
  const failures = cases.filter((text) => /<(failure|error)\b/.test(text));
  const skipped = cases.filter((text) => /<skipped\b/.test(text));
  return {
    passed: cases.length - failures.length - skipped.length,
    failed: succeeded ? failures.length : Math.max(failures.length, 1),
    skipped: skipped.map(nameOf),
    failures:
      succeeded || failures.length > 0 ? failures.map(nameOf) : ["a file that did not load, named above (Deno)"],
  };
}

function nameOf(testcase: string): string {
  return `${/name="([^"]*)"/.exec(testcase)?.[1] ?? "a test"} (Deno)`;
}
