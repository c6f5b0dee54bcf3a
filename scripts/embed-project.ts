// Gives every row of a hosted project a vector of the embedder that the settings name, and measures anew how alike things
// look to it: SUPABASE_URL=… SUPABASE_SERVICE_ROLE_KEY=… [ERGON_EMBEDDER=…] node scripts/embed-project.ts
import { createSystemClock, silentLogger, toErgonError } from "@ergon/core";
import { createSupabase, embedRows, processEnvironment, readSettings } from "@ergon/node";
import { chooseModels } from "../apps/ergon/src/services/choose-models.ts";

const { values } = readSettings({ flags: {}, ...processEnvironment() });
const { supabaseUrl: url, supabaseServiceRoleKey: key, data: dataFolder } = values;
if (url === undefined || key === undefined) {
  console.error("Set SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY to the project whose rows are to be embedded.");
  process.exit(2);
}

const { embedder } = chooseModels(values, createSystemClock());
const supabase = createSupabase({ dataFolder, schema: "", logger: silentLogger, hosted: { url, key } });
try {
  const changed = await embedRows(supabase.client, embedder);
  console.log(`${String(changed)} rows were embedded with ${embedder.model}.`);
} catch (thrown) {
  console.error(toErgonError(thrown, "internal").message);
  process.exitCode = 1;
} finally {
  await supabase.close();
}
