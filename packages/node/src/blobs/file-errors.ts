import { type ErgonError, isErgonError } from "@ergon/core";
import { storeError } from "@ergon/core/schema";

/** What the file system said, as a store's error. A lack of room or of handles may pass; the rest needs a person. */
export function fromFileSystem(thrown: unknown, doing: string): ErgonError {
  if (isErgonError(thrown)) return thrown;
  const errno = errnoOf(thrown);
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const passing = PASSING[errno];
  return storeError("store_unavailable", `While ${doing}: ${said}. ${passing ?? LASTING[errno] ?? "Check the disk."}`, {
    retryable: passing !== undefined,
    details: { errno },
    cause: thrown,
  });
}

export function errnoOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "";
}

/** For `catch`: what is not there is undefined; everything else is thrown again. */
export function absent(thrown: unknown): undefined {
  if (errnoOf(thrown) !== "ENOENT") throw thrown;
}

const PASSING: Readonly<Record<string, string>> = {
  ENOSPC: "The disk is full; make room and try again.",
  EDQUOT: "The quota is used up; make room and try again.",
  EFBIG: "A limit on file sizes was reached; raise it and try again.",
  EMFILE: "Too many files are open; try again shortly.",
  ENFILE: "Too many files are open; try again shortly.",
  EIO: "The disk did not answer well; try again, and check it.",
};

const LASTING: Readonly<Record<string, string>> = {
  EACCES: "Give this user the right to write there, or name another folder.",
  EPERM: "Give this user the right to write there, or name another folder.",
  EROFS: "That disk cannot be written; name another folder.",
  ENOTDIR: "A file stands where a folder is needed; name another folder.",
  EEXIST: "A file stands where a folder is needed; name another folder.",
  ENOENT: "That place does not exist and cannot be made; name another folder.",
};
