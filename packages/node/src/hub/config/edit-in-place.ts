import { open, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "@ergon/core/schema";
import { readPrivateFile, replacePrivateFile } from "../../tokens/private-file.ts";

const MAX_EDIT_BYTES = 8 * 1024 * 1024;
const NAME_CHARS = 32;

/**
 * Changes a file without making another one of it. Fences mask the configuration from servers, and a mask stays on the very
 * file that it was put on. Until the file is whole again, its new text is kept in the user's state folder; false, and nothing
 * has changed, when that cannot be written.
 */
export async function editInPlace(path: string, text: string, stateFolder: string): Promise<boolean> {
  const kept = await editOf(path, stateFolder);
  const isKept = await replacePrivateFile(kept, text).then(
    () => true,
    () => false,
  );
  if (!isKept) return false;
  const file = await open(await realpath(path), "r+");
  try {
    const before = await file.readFile();
    await overwrite(text, before.length).catch(async (thrown: unknown) => {
      await overwrite(before.toString("utf8"), before.length);
      await rm(kept, { force: true });
      throw thrown;
    });
  } finally {
    await file.close();
  }
  await rm(kept, { force: true });
  return true;

  /** One write that covers what was there: a process that dies before the end is cut off leaves blanks behind the text. */
  async function overwrite(next: string, beforeBytes: number): Promise<void> {
    const bytes = Buffer.from(next);
    const covering = Buffer.concat([bytes, Buffer.alloc(Math.max(0, beforeBytes - bytes.length), " ")]);
    for (let done = 0; done < covering.length;)
      done += (await file.write(covering, done, covering.length - done, done)).bytesWritten;
    await file.truncate(bytes.length);
    await file.sync();
  }
}

/** The text of an edit that a process did not live to finish. */
export async function unfinishedEdit(path: string, stateFolder: string): Promise<string | undefined> {
  return readPrivateFile(await editOf(path, stateFolder), MAX_EDIT_BYTES);
}

async function editOf(path: string, stateFolder: string): Promise<string> {
  return join(stateFolder, "edits", `${sha256Hex(await realpath(path)).slice(0, NAME_CHARS)}.json`);
}
