import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

/** What the embedded database's server found out about its tables: asking anew takes it longer than its start. */
export type SchemaCache = {
  readonly get: (key: string) => Promise<string | undefined>;
  readonly set: (key: string, value: string) => Promise<void>;
  readonly delete: (key: string) => Promise<void>;
};

const FILE = "schema-cache.json";
const CachedSchema = z.object({ key: z.string(), edition: z.string(), value: z.string() });

/** CachedSchema beside the data for one edition of tables and server; a file that cannot be read is as good as none. */
export function createSchemaCache(folder: string, edition: string): SchemaCache {
  const file = join(folder, FILE);
  return {
    get: async (key) => {
      const text = await readFile(file, "utf8").catch(() => "null");
      const kept = CachedSchema.safeParse(parsed(text)).data;
      return kept?.key === key && kept.edition === edition ? kept.value : undefined;
    },
    set: async (key, value) => {
      const staging = `${file}.new`;
      await writeFile(staging, JSON.stringify({ key, edition, value }));
      await rename(staging, file);
    },
    // Asked for whenever a connection closes; what is kept holds as long as its edition does.
    delete: () => Promise.resolve(),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
