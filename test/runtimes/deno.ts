// Runs core's own tests under Deno. It grants no file, network or process access: core needs none, and this proves it.
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TestCounts = { readonly passed: number; readonly failed: number; readonly skipped: readonly string[] };

const root = join(import.meta.dirname, "../..");

export function runDenoTests(filters: readonly string[]): TestCounts {
  const files = globSync("packages/core/**/*.test.ts", { cwd: root }).filter(
    (file) => !file.includes("node_modules") && (filters.length === 0 || filters.some((part) => file.includes(part))),
  );
  if (files.length === 0) return { passed: 0, failed: 0, skipped: [] };

  const scratch = mkdtempSync(join(tmpdir(), "ergon-deno-"));
  try {
    const report = join(scratch, "junit.xml");
    const { status, error } = spawnSync(join(root, "node_modules/.bin/deno"), [...denoFlags(report), ...files.sort()], {
      cwd: root,
      stdio: "inherit",
      env: { ...process.env, DENO_DIR: join(root, "node_modules/.cache/deno"), DENO_NO_UPDATE_CHECK: "1" },
    });
    if (error !== undefined) throw new Error("Deno did not start; run npm ci", { cause: error });
    return countResults(readFileSync(report, "utf8"), status === 0);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function denoFlags(report: string): string[] {
  return [
    "test",
    "--quiet",
    "--reporter=dot",
    `--junit-path=${report}`,
    `--config=${join(import.meta.dirname, "deno.json")}`,
    "--node-modules-dir=manual",
    "--no-check",
    "--no-lock",
    "--no-prompt",
    "--no-remote",
    "--cached-only",
    // Vitest's matchers ask these whether to colour a diff.
    "--allow-env=CI,FORCE_COLOR,FORCE_TTY,NO_COLOR,TERM",
  ];
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
