import { createHash, randomUUID } from "node:crypto";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openEmbeddedDatabase } from "@ergon/node";

const root = join(import.meta.dirname, "../../../..");
const schema = join(root, "supabase");

/** Gives a folder the embedded database with its sample data: making it takes long, copying what was made does not. */
export async function prepareSupabase(folder: string): Promise<void> {
  cpSync(await prepared(), folder, { recursive: true });
}

/** Made once for every schema that there was. */
async function prepared(): Promise<string> {
  const hash = createHash("sha256").update(readFileSync(join(root, "package-lock.json")));
  for (const file of globSync("{migrations/*.sql,seed.sql}", { cwd: schema }).sort())
    hash.update(readFileSync(join(schema, file)));
  const home = join(root, "node_modules/.cache/ergon-talent");
  const folder = join(home, hash.digest("hex").slice(0, 16));
  if (existsSync(folder)) return folder;
  const staging = join(home, `making-${randomUUID()}`);
  mkdirSync(staging, { recursive: true });
  try {
    await (await openEmbeddedDatabase({ folder: staging, schema })).close();
    if (!existsSync(folder)) renameSync(staging, folder);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  return folder;
}
