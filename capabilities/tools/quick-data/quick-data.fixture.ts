import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolRun } from "@ergon/core";
import type { Dataset } from "./data/dataset.ts";
import { implementation as load } from "./load_dataset/load_dataset.tool.ts";

export const SAMPLES = join(import.meta.dirname, "../../samples");

/** A folder of files, and tools that may read it and the samples. */
export function dataFolder(createToolRun: (given: Partial<ToolRun>) => ToolRun): {
  readonly path: string;
  readonly run: ToolRun;
  readonly write: (name: string, content: string | Uint8Array) => string;
  readonly load: (name: string, content?: string | Uint8Array) => Promise<Dataset>;
  readonly remove: () => void;
} {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "ergon-quick-")));
  const run = createToolRun({ dataRoots: [path, SAMPLES] });
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(path, name), content);
    return join(path, name);
  };
  return {
    path,
    run,
    write,
    load: (name, content) => {
      if (content !== undefined) write(name, content);
      return load({ filePath: name }, run);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
