import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = "ergon-data-";
let swept: Promise<void> | undefined;

/** A folder for one call, gone when the work is over. What a killed process left behind goes with the next one's first call. */
export async function withScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  swept ??= sweep();
  await swept;
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${String(process.pid)}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function sweep(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-\\w+$`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      // Another user's folder stays.
      await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (thrown) {
    return (
      !(thrown instanceof Error && "code" in thrown && thrown.code === "ESRCH") || existsSync(`/proc/${String(pid)}`)
    );
  }
}
