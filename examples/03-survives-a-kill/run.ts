// Starts a plan, kills its process with SIGKILL in the middle, and starts again: finished turns are not repeated.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

const here = import.meta.dirname;
const launcher = join(here, "../../apps/ergon/bin/ergon.js");
const folder = mkdtempSync(join(tmpdir(), "ergon-example-"));
const log = join(folder, "calls.log");
const flags = ["--data", join(folder, "data"), "--capabilities", here];
const env = { ...process.env, EXAMPLE_LOG: log };

try {
  const input = JSON.stringify({ items: [1, 2, 3, 4, 5, 6] });
  const first = spawn(process.execPath, [launcher, "run", "note_items", "--input", input, ...flags], {
    env,
    stdio: "ignore",
  });
  while (callsMade().length < 3) await setTimeout(20);
  first.kill("SIGKILL");
  await once(first, "exit");
  console.log("killed after", callsMade().length, "calls");

  // Any command that works on the folder takes up what was left; this one also runs a plan of its own.
  const second = ergon("run", "note_items", "--input", JSON.stringify({ items: ["x"] }));
  assert.equal(second.status, 0, second.stderr);
  for (;;) {
    const listed = JSON.parse(ergon("sessions", "list").stdout) as { items: { status: string }[] };
    if (listed.items.every(({ status }) => status === "completed")) break;
    ergon("run", "note_items", "--input", JSON.stringify({ items: [] }));
  }
  const notes = callsMade();
  const finished = new Set(notes.map(({ item }) => item));
  assert.deepEqual(finished, new Set([1, 2, 3, 4, 5, 6, "x"]));
  const repeated = notes.length - new Set(notes.map(({ key }) => key)).size;
  assert.ok(repeated <= 1, "only the call that was under way may be made again, with the same key");
  console.log("finished after the kill;", repeated, "call repeated, with its idempotency key");
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function ergon(...args: string[]) {
  return spawnSync(process.execPath, [launcher, ...args, ...flags, "--json"], { encoding: "utf8", env });
}

function callsMade(): { key: string; item: number | string }[] {
  try {
    const lines = readFileSync(log, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as { key: string; item: number });
  } catch {
    return [];
  }
}
