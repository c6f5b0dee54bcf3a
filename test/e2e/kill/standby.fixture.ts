// The built `ergon`, with everything that it would load loaded already. It begins with the arguments that it gets as a
// line on stdin: a process that is killed a hundred times should spend its life working, not starting.
import { once } from "node:events";
import { globSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

const dist = join(import.meta.dirname, "../../../apps/ergon/dist");
const parts = globSync("{core,node,chunks/*}.js", { cwd: dist });
await Promise.all(parts.map((file) => import(join(dist, file))));
process.stdout.write("loaded\n");
const lines = createInterface({ input: process.stdin });
// Whoever started it has gone before it was needed.
lines.once("close", () => process.exit(0));
const [line] = (await once(lines, "line")) as [string];
lines.removeAllListeners("close").close();
process.argv.splice(2, process.argv.length, ...(JSON.parse(line) as string[]));
await import(join(dist, "cli.js"));
