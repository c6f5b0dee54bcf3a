import { writeFile } from "node:fs/promises";
import { usageError } from "@ergon/core/schema";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { LOOK, throughOwner } from "../../workspace/through-owner.ts";

export async function getBlob(
  { terminal, compose }: CommandContext,
  id: string,
  file: string | undefined,
): Promise<ExitCode> {
  const app = await compose();
  try {
    const { bytes, mediaType } = await throughOwner(app, LOOK, ({ engine }) =>
      engine.readBlob({ owner: FIRST_PRINCIPAL, id }),
    );
    if (file === undefined) {
      if (terminal.json)
        terminal.printJson({ id, mediaType, bytes: bytes.length, base64: Buffer.from(bytes).toString("base64") });
      else terminal.printBytes(bytes);
      return EXIT.ok;
    }
    await writeFile(file, bytes).catch((cause: unknown) => {
      throw usageError(
        "input_invalid",
        `${file} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    });
    if (terminal.json) terminal.printJson({ id, mediaType, bytes: bytes.length, file });
    else terminal.note(`${file}: ${bytes.length} bytes, ${mediaType}`);
    return EXIT.ok;
  } finally {
    await app.close();
  }
}
