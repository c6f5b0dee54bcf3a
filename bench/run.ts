// npm run bench -- gate store: runs the named benches (all without names), one after the other, and prints their tables.
import { globSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { basename } from "node:path";
import ownStateFolder from "../test/state-folder.ts";
import { printReport, type Report } from "./report.ts";

type Bench = { readonly run: () => Promise<Report> };

const parts = new Set(["run", "report"]);
const known = globSync("*.ts", { cwd: import.meta.dirname })
  .map((file) => basename(file, ".ts"))
  .filter((name) => !parts.has(name) && !name.includes("."))
  .sort();
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !known.includes(name));

if (unknown.length > 0) {
  console.error(`No bench named ${unknown.join(", ")}. There are: ${known.join(", ")}.`);
  process.exitCode = 2;
} else {
  console.log(
    `${cpus()[0]?.model.trim() ?? "unknown processor"} x ${String(cpus().length)}, Node ${process.version}, load ${loadavg()[0]?.toFixed(2) ?? "?"}\n`,
  );
  const forgetState = ownStateFolder();
  process.once("exit", forgetState);
  for (const name of asked.length === 0 ? known : asked) {
    const { run } = (await import(`./${name}.ts`)) as Bench;
    console.log(printReport(await run()));
  }
}
