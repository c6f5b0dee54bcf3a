import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Files with secrets: only their owner reads them, and they are whole or absent, also after a crash. */
const PRIVATE_MODE = 0o600;
const PRIVATE_FOLDER_MODE = 0o700;
/** Absent on Windows, where nobody but an administrator makes symbolic links. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** The text, or undefined when there is no such file. What others could read is closed to them first. */
export async function readPrivateFile(path: string, maxBytes: number): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | NO_FOLLOW).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  try {
    const { mode, size } = await file.stat();
    if (size > maxBytes) throw new RangeError(`${path} is larger than ${maxBytes} bytes`);
    if ((mode & 0o077) !== 0) await file.chmod(PRIVATE_MODE);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Writes unless the file is there already; says whether it wrote. Of two that try at once, one does. */
export async function createPrivateFile(path: string, text: string): Promise<boolean> {
  const staged = await stage(path, text);
  try {
    await link(staged, path);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  } finally {
    await rm(staged, { force: true });
  }
  await syncFolder(path);
  return true;
}

export async function replacePrivateFile(path: string, text: string): Promise<void> {
  const staged = await stage(path, text);
  try {
    await rename(staged, path);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
  await syncFolder(path);
}

async function stage(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const staged = `${path}.${randomUUID()}`;
  const file = await open(staged, "wx", PRIVATE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  return staged;
}

async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(dirname(path), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
