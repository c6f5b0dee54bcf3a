import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** Written last: a folder without it was never finished. */
const READY_FILE = "ready.json";

const Ready = z.object({ layout: z.literal(1), edition: z.string().optional() });
type Ready = z.infer<typeof Ready>;

export function isReady(folder: string): boolean {
  return existsSync(join(folder, READY_FILE));
}

/** The edition of server and tables that the folder was last opened with; undefined where it says none. */
export function editionOf(folder: string): string | undefined {
  if (!isReady(folder)) return undefined;
  try {
    return Ready.safeParse(JSON.parse(readFileSync(join(folder, READY_FILE), "utf8"))).data?.edition;
  } catch {
    return undefined;
  }
}

export async function markReady(folder: string, edition: string): Promise<void> {
  const ready: Ready = { layout: 1, edition };
  await writeFile(join(folder, READY_FILE), `${JSON.stringify(ready)}\n`);
}
