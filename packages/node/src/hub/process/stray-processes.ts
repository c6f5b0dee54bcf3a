// Processes that left their server's group (setsid) and are known by a mark in their environment. Linux only: elsewhere the
// environment of another process cannot be read. A process that clears its environment is not found.
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** In the environment of everything that a server started. */
export const MARK = "STARTED_BY_ERGON";
/** What they get to end by themselves. */
const GRACE_MS = 1_000;
/** One that forks while it is killed is looked for again, so often. */
const MAX_KILLS = 5;
const POLL_MS = 50;

export async function endStrays(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  let strays = await signalled(mark, "SIGTERM");
  for (let waitedMs = 0; strays > 0 && waitedMs < GRACE_MS; waitedMs += POLL_MS) {
    await sleep(POLL_MS);
    strays = await signalled(mark, 0);
  }
  for (let kills = 0; strays > 0 && kills < MAX_KILLS; kills += 1) {
    strays = await signalled(mark, "SIGKILL");
    if (strays > 0) await sleep(POLL_MS);
  }
}

/** How many there were. */
async function signalled(mark: string, signal: NodeJS.Signals | 0): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map((pid) => hasMark(pid, mark)));
  const strays = pids.filter((_, n) => found[n]).map(Number);
  for (const pid of strays) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended meanwhile.
    }
  }
  return strays.length;
}

/** What belongs to others cannot be read, and is none of ours; a process that has ended has no environment. */
async function hasMark(pid: string, mark: string): Promise<boolean> {
  try {
    return (await readFile(`/proc/${pid}/environ`, "latin1")).split("\0").includes(`${MARK}=${mark}`);
  } catch {
    return false;
  }
}
