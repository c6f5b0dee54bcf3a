import { existsSync, unwatchFile, watchFile } from "node:fs";
import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { toErgonError } from "@ergon/core";
import { hubError } from "@ergon/core/hub";
import { readBounded } from "../../ownership/own-file.ts";
import { editInPlace, unfinishedEdit } from "./edit-in-place.ts";
import { type FileOrigin, readServers, type ServersFile } from "./read-servers.ts";

/**
 * How often the file is looked at. What is watched instead of looked at is a folder or a file that may not be there yet, or
 * may lie behind a link; looking finds the one that is meant.
 */
const LOOK_EVERY_MS = 500;
export const MAX_SERVERS_FILE_BYTES = 8 * 1024 * 1024;
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

export type ServersFileOptions = FileOrigin & {
  /** The user's own folder for what must survive a crash. With it a file that is there is changed in place. */
  readonly stateFolder?: string;
};

export function openServersFile(path: string, { stateFolder, ...origin }: ServersFileOptions = {}): WatchedServersFile {
  let known: string | undefined;
  let turns: Promise<void> = Promise.resolve();

  /** Undefined when there is no file; one that is empty was cut off. */
  async function readText(): Promise<string | undefined> {
    try {
      // One that was found may be a pipe, or a link to a device that has no end.
      return readBounded(path, MAX_SERVERS_FILE_BYTES)?.toString("utf8");
    } catch (thrown) {
      throw hubError("server_config_invalid", `${path} cannot be read: ${toErgonError(thrown, "").message}`, {
        cause: thrown,
      });
    }
  }

  async function read(): Promise<ServersFile> {
    known = await readText();
    const file = fileOf(known);
    if (file.isUnreadable !== true || stateFolder === undefined) return file;
    const edit = await unfinishedEdit(path, stateFolder);
    if (edit === undefined) return file;
    await editInPlace(path, edit, stateFolder);
    known = edit;
    return fileOf(edit);
  }

  async function write(text: string): Promise<void> {
    try {
      if (stateFolder !== undefined && existsSync(path) && (await editInPlace(path, text, stateFolder))) return;
    } catch (thrown) {
      const message = `${path} cannot be written: ${toErgonError(thrown, "").message}`;
      throw hubError("server_config_invalid", message, { cause: thrown });
    }
    await replaceFile(path, text);
  }

  function fileOf(text: string | undefined): ServersFile {
    return text === undefined ? { servers: [], settings: {}, problems: [] } : readServers(text, origin);
  }

  /** One after the other: who looks at the file sees it before a change or after it. */
  function inTurn(work: () => Promise<void>): Promise<void> {
    const done = turns.then(work);
    turns = done.catch(() => undefined);
    return done;
  }

  return {
    path,
    read,
    tried: async (edit) => readServers(edit((await readText()) ?? ""), origin),
    change: (edit) =>
      inTurn(async () => {
        const text = edit((await readText()) ?? "");
        known = text;
        await write(text);
      }),
    onChange: (listener) => {
      let timer: NodeJS.Timeout | undefined;
      const look = async () => {
        const text = await readText();
        if (text === known) return;
        known = text;
        listener(fileOf(text));
      };
      const soon = () => {
        clearTimeout(timer);
        timer = setTimeout(() => void inTurn(look).catch(() => undefined), SETTLE_MS);
        timer.unref();
      };
      // It may have changed since it was last read.
      soon();
      watchFile(path, { persistent: false, interval: LOOK_EVERY_MS }, soon);
      return () => {
        clearTimeout(timer);
        unwatchFile(path, soon);
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
