import { rm } from "node:fs/promises";
import { z } from "zod";
import { readPrivateFile, replacePrivateFile } from "../tokens/private-file.ts";

const ServerFile = z.object({ pid: z.int().positive(), url: z.string().optional(), token: z.string().optional() });
/** The token is the one for processes on this folder; it dies with the owner. */
export type ServerFile = { readonly pid: number; readonly url?: string; readonly token?: string };

const MAX_SERVER_FILE_BYTES = 64 * 1024;

export function writeServerFile(path: string, server: ServerFile): Promise<void> {
  return replacePrivateFile(path, `${JSON.stringify(server)}\n`);
}

/** Undefined when it is absent or not what an owner writes: it is a hint, not a truth. */
export async function readServerFile(path: string): Promise<ServerFile | undefined> {
  try {
    const text = await readPrivateFile(path, MAX_SERVER_FILE_BYTES);
    if (text === undefined) return undefined;
    const { pid, url, token } = ServerFile.parse(JSON.parse(text));
    return { pid, ...(url === undefined ? {} : { url }), ...(token === undefined ? {} : { token }) };
  } catch {
    return undefined;
  }
}

export async function removeServerFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** A process of another user answers with EPERM, and lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return thrown instanceof Error && "code" in thrown && thrown.code === "EPERM";
  }
}
