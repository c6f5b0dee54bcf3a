// Writes to the embedded Supabase until it is killed, and says each id once its row was acknowledged.
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { createSupabase } from "@ergon/node";

const [dataFolder = "", life = ""] = process.argv.slice(2);
const schema = join(import.meta.dirname, "../../../supabase");
const { client } = createSupabase({ dataFolder, schema, logger: silentLogger });

for (let n = 0; ; n += 1) {
  const id = `${life}-${String(n)}`;
  const { error } = await client
    .from("conversation_sessions")
    .insert({ id, mode: "general", summary: "x".repeat(2_000) });
  if (error !== null) throw new Error(error.message);
  process.stdout.write(`${id}\n`);
}
