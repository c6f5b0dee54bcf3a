import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { openOwnedDatabase } from "../database/owned-database.ts";

/** Says that it is loaded, then opens the folder when it is told to, and waits to be killed. */
process.stdout.write("ready\n");
await once(process.stdin, "data");
openOwnedDatabase({ path: join(process.argv[2] ?? "", "state.db") });
await setTimeout(60_000);
