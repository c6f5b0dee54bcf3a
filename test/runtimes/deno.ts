// Runs core's own tests and the edge function's under Deno. The script behind it grants no file, network or process access: they need none, and
// this proves it. (It may read the few variables by which Vitest's matchers decide whether to colour a diff.)
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: readonly string[] };

const root = join(import.meta.dirname, "../..");

export function runDenoTests(filters: readonly string[]): TestCounts {
  const files = globSync("{packages/core/{src,testing},supabase/functions}/**/*.test.ts", { cwd: root }).filter(
    (file) => filters.length === 0 || filters.some((part) => file.includes(part)),
  );
  return files.length === 0 ? { passed: 0, failed: 0, skipped: [] } : runUnderDeno(files.sort(), "inherit");
}

export function runUnderDeno(files: readonly string[], output: "inherit" | "ignore"): TestCounts {
  const scratch = mkdtempSync(join(tmpdir(), "ergon-deno-"));
  try {
    const report = join(scratch, "junit.xml");
    const flags = ["--reporter=dot", `--junit-path=${report}`];
    const { status } = spawnSync("npm", ["run", "--silent", "test:deno", "--", ...flags, ...files], {
      cwd: root,
      stdio: output,
      env: { ...process.env, DENO_DIR: join(root, "node_modules/.cache/deno"), DENO_NO_UPDATE_CHECK: "1" },
    });
    return countResults(readFileSync(report, "utf8"), status === 0);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** A file that does not load is no test in the report: then only Deno's exit status tells. */
function countResults(report: string, succeeded: boolean): TestCounts {
  const cases = report.match(/<testcase [\s\S]*?<\/testcase>/g) ?? [];
  const failed = cases.filter((text) => /<(failure|error)\b/.test(text)).length;
  const skipped = cases.filter((text) => /<skipped\b/.test(text));
  return {
    passed: cases.length - failed - skipped.length,
    failed: succeeded ? failed : Math.max(failed, 1),
    skipped: skipped.map((text) => `${/name="([^"]*)"/.exec(text)?.[1] ?? "a test"} (Deno)`),
  };
}
