import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { text } from "node:stream/consumers";
import { once } from "node:events";
import { rolldown } from "rolldown";
import { external } from "../../scripts/build-dist.ts";
import { startFixtureServer } from "./fixture-server.ts";

export const REVISIONS = ["2025-11-25", "2026-07-28"] as const;
export const SIDES = ["server", "client"] as const;
export type Revision = (typeof REVISIONS)[number];
export type Side = (typeof SIDES)[number];

/** Scenarios that each revision requires of a side, counted in the suite's own frozen list. */
export type SuiteResult = {
  readonly required: number;
  readonly passed: number;
  readonly failed: readonly string[];
  readonly report: string;
};

const suite = dirname(fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/package.json")));
/** The suite starts all its clients at once, each a process; a busy machine needs its time for that. */
const CLIENT_TIMEOUT_MS = 240_000;

export async function runSuite(revision: Revision, side: Side): Promise<SuiteResult> {
  const results = mkdtempSync(join(tmpdir(), "ergon-conformance-"));
  const subject = side === "server" ? await servedSubject() : await clientSubject(join(results, "client"));
  try {
    const args = [join(suite, "dist/index.js"), side, ...subject.args, "--requirements", revision, "-o", results];
    const env = {
      ...process.env,
      NODE_COMPILE_CACHE: join(results, "compile-cache"),
      ERGON_CONFORMANCE_TURNS: results,
    };
    const child = spawn(process.execPath, args, { cwd: results, env, stdio: ["ignore", "pipe", "pipe"] });
    const closed = once(child, "close");
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await closed;
    const required = requiredScenarios(revision, side);
    const failed = required.filter(
      (scenario) => !hasPassed(results, side === "server" ? `server-${scenario}` : scenario),
    );
    return { required: required.length, passed: required.length - failed.length, failed, report: `${out}${err}` };
  } finally {
    rmSync(results, { recursive: true, force: true });
    await subject.close();
  }
}

type Subject = { readonly args: readonly string[]; readonly close: () => Promise<void> };

async function servedSubject(): Promise<Subject> {
  const server = await startFixtureServer();
  return { args: ["--url", server.url], close: server.close };
}

/** Each scenario is a process of its own: fifty that read the sources take a minute more than fifty that read one file. */
async function clientSubject(folder: string): Promise<Subject> {
  const build = await rolldown({ input: join(import.meta.dirname, "client.fixture.ts"), platform: "node", external });
  await build.write({ dir: folder, format: "esm", entryFileNames: "client.mjs" });
  await build.close();
  const command = `${process.execPath} ${join(folder, "client.mjs")}`;
  const args = ["--command", command, "--timeout", String(CLIENT_TIMEOUT_MS)];
  return { args, close: () => Promise.resolve() };
}

function requiredScenarios(revision: string, side: Side): string[] {
  const lines = readFileSync(join(suite, "requirements", `${revision}.yaml`), "utf8").split("\n");
  const from = lines.indexOf(`${side}:`) + 1;
  const to = lines.findIndex((line, at) => at >= from && /^\w/.test(line));
  return lines.slice(from, to).flatMap((line) => /^ {2}- (\S+)/.exec(line)?.[1] ?? []);
}

/** A scenario that left no checks has not passed. */
function hasPassed(results: string, scenario: string): boolean {
  const folder = readdirSync(results, { recursive: true, encoding: "utf8" }).find((path) =>
    new RegExp(`^${scenario}-\\d[^/]*/checks\\.json$`).test(path),
  );
  if (folder === undefined) return false;
  const checks = JSON.parse(readFileSync(join(results, folder), "utf8")) as { readonly status: string }[];
  return checks.length > 0 && checks.every(({ status }) => status !== "FAILURE");
}
