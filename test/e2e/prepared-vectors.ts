import { createHash, randomUUID } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ergon } from "./ergon.ts";

const root = join(import.meta.dirname, "../..");
const VECTORS = "vectors.db";

/** Gives a data folder the vectors of what the tools say of themselves, which the first question would make. */
export async function prepareVectors(data: string): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  cpSync(await prepared(), join(data, VECTORS));
}

/** Made once for every kind of tools, shelf and encoder that there was. */
async function prepared(): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  const parts = ["apps/ergon/dist/capabilities/*.json", "packages/node/src/{embed,sqlite}/*.ts"];
  for (const file of globSync(parts, { cwd: root }).sort()) hash.update(readFileSync(join(root, file)));
  const home = join(root, "node_modules/.cache/ergon-vectors");
  const folder = join(home, hash.digest("hex").slice(0, 16));
  if (existsSync(folder)) return join(folder, VECTORS);
  const staging = join(home, `making-${randomUUID()}`);
  mkdirSync(staging, { recursive: true });
  try {
    const { code, err } = await ergon(["ask", "greet Ada", "--data", staging], { cwd: staging });
    if (code !== 0 || existsSync(join(staging, `${VECTORS}-wal`))) throw new Error(`No vectors were made: ${err}`);
    if (!existsSync(folder)) renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return join(folder, VECTORS);
}
