import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { z } from "zod";
import { replacePrivateFile } from "../tokens/private-file.ts";
import { readOwnFile } from "./own-file.ts";

/** Who owns a data folder. The nonce tells two owners apart, and finds the token for this one. */
export type ServerFile = { readonly pid: number; readonly url?: string; readonly nonce?: string };
const ServerFile = z.object({ pid: z.int().positive(), url: z.string().optional(), nonce: z.string().optional() });

/** How other processes of this user come in; kept in the state folder, never in the data folder. */
export type OwnerAccess = { readonly nonce: string; readonly url: string; readonly token: string };
const OwnerAccess = z.object({ nonce: z.string(), url: z.string(), token: z.string() });

const MAX_FILE_BYTES = 64 * 1024;

export function writeServerFile(path: string, server: ServerFile): Promise<void> {
  return replacePrivateFile(path, `${JSON.stringify(server)}\n`);
}

/** Undefined when it is absent or not what an owner writes: it is a hint, not a truth. */
export function readServerFile(path: string): ServerFile | undefined {
  const found = ServerFile.safeParse(readJson(path));
  if (!found.success) return undefined;
  const { pid, url, nonce } = found.data;
  return { pid, ...(url === undefined ? {} : { url }), ...(nonce === undefined ? {} : { nonce }) };
}

export async function removeServerFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

export function writeOwnerAccess(path: string, access: OwnerAccess): Promise<void> {
  return replacePrivateFile(path, `${JSON.stringify(access)}\n`);
}

export function readOwnerAccess(path: string): OwnerAccess | undefined {
  return OwnerAccess.safeParse(readJson(path)).data;
}

export function removeOwnerAccess(path: string): void {
  rmSync(path, { force: true });
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

function readJson(path: string): unknown {
  try {
    const bytes = readOwnFile(path, MAX_FILE_BYTES);
    return bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}
