import { watch } from "node:fs";
import { mkdir, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hubError, toErgonError } from "@ergon/core";
import { type FileOrigin, readServers, type ServersFile } from "./read-servers.ts";

/** Editors write in several steps. */
const SETTLE_MS = 200;

export type WatchedServersFile = {
  readonly path: string;
  /** A file that is not there has no servers. */
  readonly read: () => Promise<ServersFile>;
  /** What the file would say; nothing is written. */
  readonly tried: (edit: (text: string) => string) => Promise<ServersFile>;
  /** Changes the file as it is now, in one step; changes are made one after the other. */
  readonly change: (edit: (text: string) => string) => Promise<void>;
  /** Told when what the file says has changed, by whomever; not told of what `change` wrote. Returns the way to stop. */
  readonly onChange: (listener: (file: ServersFile) => void) => () => void;
};

export function openServersFile(path: string, origin: FileOrigin = {}): WatchedServersFile {
  let known: string | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function readText(): Promise<string> {
    try {
      return await readFile(path, "utf8");
    } catch (thrown) {
      if (isAbsent(thrown)) return "";
      throw hubError("server_config_invalid", `${path} cannot be read: ${toErgonError(thrown, "").message}`, {
        cause: thrown,
      });
    }
  }

  async function read(): Promise<ServersFile> {
    known = await readText();
    return known === "" ? { servers: [], settings: {}, problems: [] } : readServers(known, origin);
  }

  return {
    path,
    read,
    tried: async (edit) => readServers(edit(await readText()), origin),
    change: (edit) => {
      const change = writing.then(async () => {
        const text = edit(await readText());
        known = text;
        await replaceFile(path, text);
      });
      writing = change.catch(() => undefined);
      return change;
    },
    onChange: (listener) => {
      let timer: NodeJS.Timeout | undefined;
      const look = async () => {
        await writing;
        const text = await readText().catch(() => undefined);
        if (text === undefined || text === known) return;
        listener(await read());
      };
      // The folder, not the file: editors put a new file in the old one's place.
      const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
        if (name !== null && name !== basename(path)) return;
        clearTimeout(timer);
        timer = setTimeout(() => void look(), SETTLE_MS);
        timer.unref();
      });
      watcher.on("error", () => watcher.close());
      return () => {
        clearTimeout(timer);
        watcher.close();
      };
    },
  };
}

/** Whoever reads sees the old text or the new one. Its mode stays; a new one is for its owner alone: it may hold keys. */
async function replaceFile(path: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => 0o600,
  );
  await mkdir(dirname(target), { recursive: true });
  const temporary = join(dirname(target), `.${basename(target)}.${String(process.pid)}.tmp`);
  try {
    const file = await open(temporary, "w", mode);
    try {
      await file.writeFile(text);
      await file.chmod(mode);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, target);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw hubError("server_config_invalid", `${path} cannot be written: ${toErgonError(thrown, "").message}`, {
      cause: thrown,
    });
  }
}

function isAbsent(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
}
