import { rm } from "node:fs/promises";
import { join } from "node:path";
import { accessError } from "@ergon/core/schema";
import { readBounded } from "../ownership/own-file.ts";
import { readPrivateFile, replacePrivateFile } from "./private-file.ts";
import { newSecret } from "./secret.ts";

const MAX_FILE_BYTES = 4_096;
const USABLE = /^[\x21-\x7e]{32,}$/;
const NAME = "token";

/** A data folder's first token, by its owner: from the folder's home in the state folder, or made there. */
export async function readFirstToken(home: string): Promise<string> {
  const kept = await readKeptToken(home);
  if (kept !== undefined) return kept;
  const token = newSecret();
  await keepToken(home, token);
  return token;
}

/**
 * Ergon 0.1.0 kept the first token in the data folder, where it may come with an archive: it is moved only when a person
 * says that the folder is theirs, and only if the folder has no other token yet.
 */
export async function takeOverToken(home: string, dataFolder: string): Promise<void> {
  const old = join(dataFolder, NAME);
  const found = await read(old);
  if (found === undefined || (await readKeptToken(home)) !== undefined) return;
  await keepToken(home, found);
  await rm(old, { force: true });
}

function keepToken(home: string, token: string): Promise<void> {
  return replacePrivateFile(join(home, NAME), `${token}\n`);
}

/** Undefined when none was made yet. */
export async function readKeptToken(home: string): Promise<string | undefined> {
  return read(join(home, NAME));
}

/** A token that a person keeps in a file of their own. */
export async function readTokenFile(path: string): Promise<string> {
  // It may be a mounted secret: another user's, and reached through a link.
  const token = await read(path, async () => readBounded(path, MAX_FILE_BYTES)?.toString("utf8"));
  if (token !== undefined) return token;
  throw accessError("token_unusable", `${path} does not exist; --token-file names a file with a token in it.`);
}

async function read(
  path: string,
  open = async (): Promise<string | undefined> => readPrivateFile(path, MAX_FILE_BYTES),
): Promise<string | undefined> {
  const text = await open().catch((error: unknown) => {
    throw unusable(path, error instanceof Error ? error.message : "cannot be read", error);
  });
  const token = text?.trim();
  if (token === undefined || USABLE.test(token)) return token;
  throw unusable(path, "does not hold a token (at least 32 printable characters, no spaces)");
}

function unusable(path: string, why: string, cause?: unknown): Error {
  return accessError("token_unusable", `${path}: ${why}. Put a token in it, or delete it.`, { cause });
}
