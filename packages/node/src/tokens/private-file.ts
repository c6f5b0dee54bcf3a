/* Files with secrets: only their owner reads them, and they are whole or absent, also after a crash. */
import { randomUUID } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../ownership/make-folder.ts";
import { PRIVATE_FILE_MODE, readOwnFile } from "../ownership/own-file.ts";

/** The text, or undefined when there is no such file. What others could read is closed to them first. */
export async function readPrivateFile(path: string, maxBytes: number): Promise<string | undefined> {
  return readOwnFile(path, maxBytes, true)?.toString("utf8");
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
  makeFolder(dirname(path));
  const staged = `${path}.${randomUUID()}`;
  const file = await open(staged, "wx", PRIVATE_FILE_MODE);
  try {
    await file.writeFile(text);
    await file.sync();
    return staged;
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  } finally {
    await file.close();
  }
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

/** A file that `replacePrivateFile` was writing when its process died. */
export function isStaged(name: string): boolean {
  return STAGED.test(name);
}

const STAGED = /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
