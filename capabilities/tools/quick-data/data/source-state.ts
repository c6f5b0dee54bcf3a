import { createHash } from "node:crypto";
import type { ToolRun } from "@ergon/core";
import { z } from "zod";
import { openAllowedFile } from "./allowed-file.ts";
import type { DatasetSource } from "./dataset.ts";

/** What has become of the file since it was loaded; the dataset itself stays as it was. */
export const SourceState = z.enum(["unchanged", "changed", "gone"]);
export type SourceState = z.infer<typeof SourceState>;

export async function sourceState(run: ToolRun, source: DatasetSource): Promise<SourceState> {
  let file;
  try {
    file = await openAllowedFile(run, source.path);
  } catch {
    // Not there, not allowed any more, or not readable: for the dataset it is gone.
    return "gone";
  }
  try {
    const { size, mtime } = await file.handle.stat();
    if (size !== source.bytes) return "changed";
    if (mtime.toISOString() === source.modifiedAt) return "unchanged";
    // Touched: only the bytes tell.
    const hash = createHash("sha256");
    for await (const chunk of file.handle.createReadStream({ autoClose: false, signal: run.signal })) {
      hash.update(chunk as Buffer);
    }
    return hash.digest("hex") === source.sha256 ? "unchanged" : "changed";
  } finally {
    await file.handle.close();
  }
}
