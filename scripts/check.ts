// Runs every `check:*` script of package.json, one line each with its time, and shows the output of those that fail.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };

const root = join(import.meta.dirname, "..");
const only = process.argv.slice(2);
const parts = Object.entries(manifest.scripts)
  .filter(([name]) => name.startsWith("check:"))
  .map(([name, command]) => ({ name: name.slice("check:".length), command }))
  .filter(({ name }) => only.length === 0 || only.includes(name));

const failed = parts.filter((part) => !passes(part));
console.log(`${parts.length - failed.length} passed, ${failed.length} failed`);
process.exit(failed.length === 0 && parts.length > 0 ? 0 : 1);

function passes({ name, command }: { name: string; command: string }): boolean {
  const startedAt = performance.now();
  const path = `${join(root, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
  const { status, stdout, stderr, error } = spawnSync(command, {
    cwd: root,
    shell: true,
    encoding: "utf8",
    env: { ...process.env, PATH: path },
    maxBuffer: 64 * 1024 * 1024,
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${status === 0 ? "ok    " : "FAILED"} ${name.padEnd(14)} ${seconds.padStart(5)} s`);
  if (status !== 0) console.log(`${stdout}${stderr}${error === undefined ? "" : error.message}`.trimEnd());
  return status === 0;
}
