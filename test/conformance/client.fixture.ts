// Waits for its turn and becomes a client. The suite starts all its clients at once, and a machine with two processors that
// starts thirty programs answers none of them in time.
import { mkdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const AT_ONCE = 3;
const POLL_MS = 50;

const turn = await takeTurn(process.env["ERGON_CONFORMANCE_TURNS"] ?? "");
try {
  await import("./client-scenario.ts");
} finally {
  await rmdir(turn);
}

async function takeTurn(folder: string): Promise<string> {
  for (let at = 0; ; at = (at + 1) % AT_ONCE) {
    const place = join(folder, `turn-${String(at)}`);
    try {
      await mkdir(place);
      return place;
    } catch (thrown) {
      if (!(thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST")) throw thrown;
      await sleep(POLL_MS);
    }
  }
}
