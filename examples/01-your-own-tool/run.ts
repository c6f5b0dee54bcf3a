// A tool is one file. This example calls the tool in tools/ as a person would, then with a mistake in its arguments.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const data = mkdtempSync(join(tmpdir(), "ergon-example-"));
process.on("exit", () => rmSync(data, { recursive: true, force: true }));

const launcher = join(import.meta.dirname, "../../apps/ergon/bin/ergon.js");

const listed = ergon("tools", "show", "text::initials");
assert.equal(listed.status, 0, listed.stderr);

const called = ergon("tools", "call", "text::initials", "--args", `{"name": "Ada Lovelace"}`);
assert.equal(called.status, 0, called.stderr);
assert.deepEqual(JSON.parse(called.stdout), { output: { initials: "AL" } });
console.log("text::initials says", called.stdout.trim());

const mistaken = ergon("tools", "call", "text::initials", "--args", `{"nmae": "Ada Lovelace"}`);
assert.notEqual(mistaken.status, 0);
assert.match(mistaken.stdout + mistaken.stderr, /name/);
console.log("and refuses a misspelt argument:", (mistaken.stdout + mistaken.stderr).trim());

function ergon(...args: string[]) {
  const folder = join(import.meta.dirname, "tools");
  const flags = ["--capabilities", folder, "--data", data, "--json"];
  return spawnSync(process.execPath, [launcher, ...args, ...flags], { encoding: "utf8" });
}
