import { globSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Ends what a test left running on its folder, and throws when there was anything. */
export function leaveNothingOn(folder: string): void {
  const left = processesOn(folder);
  for (const { pid } of left) process.kill(pid, "SIGKILL");
  if (left.length > 0) throw new Error(`Left running: ${left.map(({ command }) => command).join("; ")}`);
}

/** Far longer than anything takes on a slow machine; what has not come by then is not going to. */
const PATIENCE_MS = 30_000;
const POLL_MS = 10;

export async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let waitedMs = 0; !isTrue(); waitedMs += POLL_MS) {
    if (waitedMs > PATIENCE_MS) throw new Error(`This did not come about: ${what}.`);
    await sleep(POLL_MS);
  }
}

type Process = { readonly pid: number; readonly command: string };

/** The processes that were started with a word that names this folder; only Linux shows them as files. */
export function processesOn(folder: string): Process[] {
  return globSync("/proc/[0-9]*/cmdline").flatMap((file) => {
    try {
      const words = readFileSync(file, "utf8").split("\0");
      const pid = Number(file.split("/")[2]);
      return words.some((word) => word.includes(folder)) ? [{ pid, command: words.join(" ") }] : [];
    } catch {
      return [];
    }
  });
}

/** Whether bytes or connections have come for this address that its process has not read; Linux shows them as a file. */
export function hasUnread(url: string): boolean {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, "0");
  return readFileSync("/proc/net/tcp", "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .some(([, local = "", , , queues = ""]) => local.endsWith(`:${port}`) && !queues.endsWith(":00000000"));
}
