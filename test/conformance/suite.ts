import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { startFixtureServer } from "./fixture-server.ts";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;

/** Server scenarios that each revision requires, counted in the suite's own frozen list. */
export type SuiteResult = {
  readonly required: number;
  readonly passed: number;
  readonly failed: readonly string[];
  readonly report: string;
};

const suite = dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")));

export async function runSuite(revision: (typeof REVISIONS)[number]): Promise<SuiteResult> {
  const server = await startFixtureServer();
  const results = mkdtempSync(join(tmpdir(), "ergon-conformance-"));
  try {
    const args = [
      join(suite, "dist/index.js"),
      "server",
      "--url",
      server.url,
      "--requirements",
      revision,
      "-o",
      results,
    ];
    const child = spawn(process.execPath, args, { cwd: results, stdio: ["ignore", "pipe", "pipe"] });
    const closed = once(child, "close");
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await closed;
    const required = requiredScenarios(revision);
    const failed = required.filter((scenario) => !hasPassed(results, scenario));
    return { required: required.length, passed: required.length - failed.length, failed, report: `${out}${err}` };
  } finally {
    rmSync(results, { recursive: true, force: true });
    await server.close();
  }
}

function requiredScenarios(revision: string): string[] {
  const lines = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").split("\n");
  const from = lines.indexOf("server:") + 1;
  const to = lines.findIndex((line, at) => at >= from && /^\w/.test(line));
  return lines.slice(from, to).flatMap((line) => /^ {2}- (\S+)/.exec(line)?.[1] ?? []);
}

/** A scenario that left no checks has not passed. */
function hasPassed(results: string, scenario: string): boolean {
  const folder = readdirSync(results, { recursive: true, encoding: "utf8" }).find((path) =>
    new RegExp(`(^|/)server-${scenario}-\\d[^/]*/checks\\.json$`).test(path),
  );
  if (folder === undefined) return false;
  const checks = JSON.parse(readFileSync(join(results, folder), "utf8")) as { readonly status: string }[];
  return checks.length > 0 && checks.every(({ status }) => status !== "FAILURE");
}
