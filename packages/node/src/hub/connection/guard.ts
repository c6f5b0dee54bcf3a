// Ends servers' processes when this process can no longer do it: after SIGKILL, after a crash. A shell of its own session
// reads the groups that it answers for from a pipe; when the pipe ends, this process is gone, and so are they. On Linux it
// then ends what left its group, by the mark in its environment.
import { randomUUID } from "node:crypto";
import { spawn, type ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import { MARK } from "../process/stray-processes.ts";

/** What the groups get to end by themselves, before they are killed. */
const GRACE_SECONDS = 2;
/** A guard that something ends is started again; one that ends at once each time is not worth more tries. */
export const MAX_GUARD_STARTS = 20;

const SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r sign group; do
  case $sign in
  +) groups="$groups $group" ;;
  -) left=; for one in $groups; do [ "$one" = "$group" ] || left="$left $one"; done; groups=$left ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
[ -z "$groups" ] || sleep ${String(GRACE_SECONDS)}
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
for round in 1 2 3; do
  for file in $(grep -lsF "${MARK}=$0." /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" 2>/dev/null
  done
done
`;

export type Guard = {
  /** Marks for servers begin with it. */
  readonly mark: string;
  /** Hand this to the process that is to be guarded: it writes `+ GROUP` to it before it becomes the server. */
  readonly pipe: () => Writable;
  /** The group has ended. */
  readonly forget: (group: number) => void;
  readonly known: (group: number) => void;
};

export function createGuard([program, ...args]: readonly [string, ...string[]] = ["/bin/sh", "-c", SCRIPT]): Guard {
  const mark = randomUUID();
  const groups = new Set<number>();
  let shell: ChildProcess | undefined;
  let starts = 0;

  function start(): Writable {
    if (shell?.exitCode === null && shell.signalCode === null && shell.stdin !== null) return shell.stdin;
    if (starts >= MAX_GUARD_STARTS) throw new Error("The guard of server processes ends whenever it is started.");
    starts += 1;
    const started = spawn(program, [...args, mark], { detached: true, stdio: ["pipe", "ignore", "ignore"] });
    const { stdin } = started;
    started.on("error", () => undefined);
    // It ends only when something ends it; what it guarded is handed to the next one.
    started.on("exit", () => {
      if (shell === started) shell = undefined;
      if (groups.size > 0 && starts < MAX_GUARD_STARTS) start();
    });
    stdin.on("error", () => undefined);
    started.unref();
    (stdin as Partial<{ unref(): void }>).unref?.();
    shell = started;
    for (const group of groups) stdin.write(`+ ${String(group)}\n`);
    return stdin;
  }

  return {
    mark,
    pipe: start,
    known: (group) => void groups.add(group),
    forget: (group) => {
      if (!groups.delete(group)) return;
      shell?.stdin?.write(`- ${String(group)}\n`);
    },
  };
}
