import { randomUUID } from "node:crypto";
import { readdirSync, rmSync, statSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { checkOwnFolder } from "../ownership/own-file.ts";
import { errnoOf } from "./file-errors.ts";

/** What a process that died left behind is removed once it is this old: nobody writes a blob for that long. */
export const LEFTOVER_MS = 60 * 60 * 1_000;

export type WholeWrites = {
  /** Whole and durable when it resolves; a process that dies on the way leaves nothing under the path. */
  readonly write: (path: string, bytes: Uint8Array) => Promise<void>;
};

export function createWholeWrites(scratch: string): WholeWrites {
  const shards = new Set<string>();

  /** A folder's own entry needs a sync too: once, also when an earlier process made it and died. */
  async function makeShard(directory: string): Promise<void> {
    if (shards.has(directory)) return;
    await mkdir(directory, { mode: 0o700 }).catch((thrown: unknown) => {
      if (errnoOf(thrown) !== "EEXIST") throw thrown;
      checkOwnFolder(directory);
    });
    await syncFolder(dirname(directory));
    shards.add(directory);
  }

  return {
    write: async (path, bytes) => {
      const staged = join(scratch, randomUUID());
      try {
        const file = await open(staged, "wx", 0o600);
        try {
          await file.writeFile(bytes);
          await file.sync();
        } finally {
          await file.close();
        }
        await makeShard(dirname(path));
        await rename(staged, path);
      } catch (thrown) {
        await rm(staged, { force: true });
        throw thrown;
      }
      await syncFolder(dirname(path));
    },
  };
}

export function removeLeftovers(scratch: string): void {
  const oldest = Date.now() - LEFTOVER_MS;
  for (const name of readdirSync(scratch)) {
    const path = join(scratch, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? oldest) < oldest) rmSync(path, { force: true });
  }
}

async function syncFolder(path: string): Promise<void> {
  // Windows has no such thing and does without.
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
