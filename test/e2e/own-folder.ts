import { afterEach, beforeEach } from "vitest";
import { temporaryFolder } from "./ergon.ts";
import { leaveNothingOn } from "./processes.ts";

export type OwnFolder = Pick<ReturnType<typeof temporaryFolder>, "path" | "write">;

/** A folder of its own for each test of the suite that calls this; afterwards it is gone, and nothing runs on it. */
export function ownFolder(): OwnFolder {
  let folder: ReturnType<typeof temporaryFolder>;
  beforeEach(() => {
    folder = temporaryFolder();
  });
  afterEach(() => {
    try {
      leaveNothingOn(folder.path);
    } finally {
      folder.remove();
    }
  });
  return {
    get path() {
      return folder.path;
    },
    write: (files) => folder.write(files),
  };
}
