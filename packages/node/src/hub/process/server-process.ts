/*
 * A server's process and everything that it started.
 *
 * 1  It leads a process group of its own; whoever ends it ends the whole group, children of `npx` included.
 * 2  Its group is in the guard's hands before its program begins, so that it does not outlive Ergon, however Ergon dies.
 * 3  When its leader is gone, so is the rest of the group: a server that crashed leaves nothing behind. On Linux, what left
 *    the group (setsid) is found by a mark in its environment, and ends too.
 * 4  It sees of the environment only what a program needs to run, and what its configuration names.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { hubError } from "@ergon/core/hub";
import type { Guard } from "../connection/guard.ts";
import { endStrays, MARK } from "./stray-processes.ts";

export type ServerCommand = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string | undefined;
};

export type ServerProcess = {
  readonly pid: number;
  readonly stdin: NonNullable<ChildProcess["stdin"]>;
  readonly stdout: NonNullable<ChildProcess["stdout"]>;
  readonly stderr: NonNullable<ChildProcess["stderr"]>;
  /** How its leader ended, in words; the rest of the group is gone by then. */
  readonly ended: Promise<string>;
  /** Closes its input, then asks, then kills. Resolves when nothing of it is left. */
  readonly end: () => Promise<void>;
  /** Without asking, for one that must not go on. */
  readonly kill: () => void;
};

/** After its input was closed, as the protocol has it. */
const CLOSE_GRACE_MS = 1_500;
const TERM_GRACE_MS = 1_500;
/** A killed process is gone at once; one that cannot be killed is not waited for. */
const KILL_GRACE_MS = 1_000;
const POLL_MS = 20;

/** Names itself to the guard, then becomes the server. */
const WRAPPER = 'echo "+ $$" >&3; exec "$0" "$@" 3>&-';

/** Rejects with `server_down` when it cannot be started. */
export async function startServerProcess(
  { command, args, env, cwd }: ServerCommand,
  guard: Guard,
): Promise<ServerProcess> {
  const mark = `${guard.mark}.${randomUUID()}`;
  const child = spawn("/bin/sh", ["-c", WRAPPER, command, ...args], {
    detached: true,
    stdio: ["pipe", "pipe", "pipe", guard.pipe()],
    env: { ...inherited(), ...env, [MARK]: mark },
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { stdin, stdout, stderr } = child;
  const failed = new Promise<Error>((resolve) => child.once("error", resolve));
  if (child.pid === undefined || stdin === null || stdout === null || stderr === null) {
    const cause = await failed;
    const message = `"${command}" could not be started: ${cause.message}`;
    throw hubError("server_down", message, { cause, details: { command } });
  }
  const group = child.pid;
  guard.known(group);
  stdin.on("error", () => undefined);
  const leaderGone = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => {
      resolve(signal === null ? exitInWords(code, command) : `it was ended by ${signal}`);
    });
  });
  let wasKilled = false;
  const ended = leaderGone.then(async (how) => {
    await clearGroup(group, wasKilled);
    await endStrays(mark);
    guard.forget(group);
    return how;
  });
  let ending: Promise<void> | undefined;
  const kill = (): void => void (wasKilled = signalGroup(group, "SIGKILL"));
  return { pid: group, stdin, stdout, stderr, ended, end: () => (ending ??= end()), kill };

  async function end(): Promise<void> {
    child.stdin?.end();
    if (!(await within(leaderGone, CLOSE_GRACE_MS))) {
      signalGroup(group, "SIGTERM");
      if (!(await within(leaderGone, TERM_GRACE_MS))) kill();
    }
    await ended;
  }
}

/** The wrapper's shell says with these that there is nothing to become. */
function exitInWords(code: number | null, command: string): string {
  if (code === 127) return `${NO_PROGRAM} "${command}" was not found`;
  if (code === 126) return `${NO_PROGRAM} "${command}" is not a program that may be run`;
  return `it exited with code ${String(code)}`;
}

const NO_PROGRAM = "its command";

/** Whether a program was there to say anything; what the shell said of it is in the words for its end already. */
export function hadProgram(howItEnded: string): boolean {
  return !howItEnded.startsWith(NO_PROGRAM);
}

/** Ends what a leader left behind. */
async function clearGroup(group: number, wasKilled: boolean): Promise<void> {
  if (!wasKilled) {
    if (!signalGroup(group, "SIGTERM")) return;
    if (await emptied(group, TERM_GRACE_MS)) return;
  }
  signalGroup(group, "SIGKILL");
  await emptied(group, KILL_GRACE_MS);
}

async function emptied(group: number, limitMs: number): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < limitMs; waitedMs += POLL_MS) {
    if (!signalGroup(group, 0)) return true;
    await sleep(POLL_MS);
  }
  return !signalGroup(group, 0);
}

/** False when there is no such group any more. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

async function within(done: Promise<unknown>, limitMs: number): Promise<boolean> {
  const patience = new AbortController();
  const late = sleep(limitMs, false, { signal: patience.signal }).catch(() => false);
  const first = await Promise.race([done.then(() => true), late]);
  patience.abort();
  return first;
}

/** What programs need to find themselves and each other; nothing that holds a secret. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

function inherited(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    // A function exported by a shell is code.
    if (value !== undefined && !value.startsWith("()")) env[name] = value;
  }
  return env;
}
