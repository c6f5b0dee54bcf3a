import type { BigIntStats } from "node:fs";
import { opendir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A file with several names is looked for among so many files of ours; where there are more, it is refused unread. */
const MAX_LOOKED_AT = 100_000;

type Identity = Pick<BigIntStats, "dev" | "ino">;

export type DeniedFiles = {
  /** Whether the opened file is denied itself or lies in a denied folder. Its name does not matter. */
  readonly hasFile: (path: string, opened: Identity & Pick<BigIntStats, "nlink">) => Promise<boolean>;
  readonly hasFolder: (folder: Identity) => boolean;
};

/** Files and folders that no data tool reads, known by device and inode: a name can be a link, a mount, or spelled in another way. */
export async function deniedFiles(paths: readonly string[], maxLookedAt = MAX_LOOKED_AT): Promise<DeniedFiles> {
  const found = await Promise.all(paths.map(async (path) => ({ path, is: await identify(path) })));
  const denied = found.flatMap(({ path, is }) => (is === undefined ? [] : [{ path, is }]));
  const hasFolder = (folder: Identity): boolean => denied.some(({ is }) => isSame(is, folder));
  return {
    hasFolder,
    hasFile: async (path, opened) => {
      if (hasFolder(opened)) return true;
      for (let folder = dirname(path); ; folder = dirname(folder)) {
        const is = await identify(folder);
        if (is !== undefined && hasFolder(is)) return true;
        if (folder === dirname(folder)) break;
      }
      // Only a file with a second name can lie in one of the folders as well.
      if (opened.nlink < 2n) return false;
      let budget = maxLookedAt;
      const isBelow = async (folder: string): Promise<boolean> => {
        for await (const entry of await opendir(folder)) {
          budget -= 1;
          if (budget < 0) return true;
          const inside = join(folder, entry.name);
          if (entry.isDirectory() && (await isBelow(inside))) return true;
          const is = entry.isFile() ? await identify(inside) : undefined;
          if (is !== undefined && isSame(is, opened)) return true;
        }
        return false;
      };
      for (const { path: one, is } of denied) if (is.isDirectory() && (await isBelow(one))) return true;
      return false;
    },
  };
}

function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}

async function identify(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true });
  } catch (thrown) {
    if (thrown instanceof Error && "code" in thrown && (thrown.code === "ENOENT" || thrown.code === "ENOTDIR"))
      return undefined;
    throw thrown;
  }
}
