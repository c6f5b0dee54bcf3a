import { join } from "node:path";
import { accessError } from "@ergon/core";
import { createPrivateFile, readPrivateFile } from "./private-file.ts";
import { newSecret } from "./secret.ts";

const MAX_FILE_BYTES = 4_096;
const USABLE = /^[\x21-\x7e]{32,}$/;

/** The folder's own token, from `DATA/token`; made there when there is none. */
export async function readFirstToken(dataFolder: string): Promise<string> {
  const path = join(dataFolder, "token");
  const kept = await read(path);
  if (kept !== undefined) return kept;
  await createPrivateFile(path, `${newSecret()}\n`);
  const made = await read(path);
  if (made === undefined) throw unusable(path, "disappeared while it was made");
  return made;
}

async function read(path: string): Promise<string | undefined> {
  const text = await readPrivateFile(path, MAX_FILE_BYTES).catch((error: unknown) => {
    throw unusable(path, error instanceof Error ? error.message : "cannot be read", error);
  });
  const token = text?.trim();
  if (token === undefined || USABLE.test(token)) return token;
  throw unusable(path, "does not hold a token (at least 32 printable characters, no spaces)");
}

function unusable(path: string, why: string, cause?: unknown): Error {
  return accessError("token_unusable", `${path}: ${why}. Delete it, and the next start makes a new one.`, { cause });
}
