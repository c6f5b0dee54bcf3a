import type { Command } from "commander";
import { group, type Run } from "../command-group.ts";

export function addBlobs(program: Command, run: Run): void {
  const blobs = group(program, "blobs", "read a large value", { words: ["get"], usage: "get <id> [-o <file>]" });
  blobs
    .command("get")
    .argument("<id>", "the blob's id")
    .description("write a blob's bytes to stdout or a file")
    .option("-o, --output <file>", "the file to write")
    .action(async (id: string, { output }: { output?: string }) =>
      run(async (context) => (await import("./blobs.ts")).getBlob(context, id, output)),
    );
}
