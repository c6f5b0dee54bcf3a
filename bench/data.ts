// A csv of a million rows and ten columns of numbers: loading it and correlating every pair, as the quick-data tools do.
import { spawnSync } from "node:child_process";
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, type Report, whole } from "./report.ts";

const ROWS = 1_000_000;
const COLUMNS = 10;
const ROUNDS = 5;

type Taken = { rows: number; pairs: number; loadMs: number; correlateMs: number; cpuMs: number; maxRssBytes: number };

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  try {
    const file = join(folder, "numbers.csv");
    await writeNumbers(file);
    const rounds = Array.from({ length: ROUNDS }, () => inProcess(file));
    const of = (pick: (taken: Taken) => number): number[] => rounds.map(pick);
    const seconds = (values: readonly number[]): string[] => [
      (median(values) / 1_000).toFixed(2),
      `${(Math.min(...values) / 1_000).toFixed(2)} to ${(Math.max(...values) / 1_000).toFixed(2)}`,
    ];
    const memory = of(({ maxRssBytes }) => maxRssBytes / 1_000_000);
    return {
      title: `data: ${whole(ROWS)} rows, ${String(COLUMNS)} columns of numbers, ${whole(statSync(file).size / 1_000_000)} MB of csv`,
      columns: ["what", "median", "best and worst round"],
      rows: [
        ["load (s)", ...seconds(of(({ loadMs }) => loadMs))],
        ["correlate 45 pairs (s)", ...seconds(of(({ correlateMs }) => correlateMs))],
        ["both (s); goal: under 3", ...seconds(of(({ loadMs, correlateMs }) => loadMs + correlateMs))],
        ["processor time of both (s)", ...seconds(of(({ cpuMs }) => cpuMs))],
        [
          "peak RSS (MB); goal: under 500",
          whole(median(memory)),
          `${whole(Math.min(...memory))} to ${whole(Math.max(...memory))}`,
        ],
      ],
      notes: [
        "Loading copies and hashes the file, reads it with DuckDB, gives each column its role, and keeps the rows as a blob of Parquet, synced to disk.",
        `Median of ${String(ROUNDS)} processes, each new; the database's own code is loaded within the time.`,
      ],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function inProcess(file: string): Taken {
  const child = join(import.meta.dirname, "data.load.ts");
  const { status, stdout, stderr } = spawnSync(process.execPath, [child, file], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const taken = JSON.parse(stdout) as Taken;
  if (taken.rows !== ROWS || taken.pairs !== 45) throw new Error(`It found ${stdout}.`);
  return taken;
}

async function writeNumbers(file: string): Promise<void> {
  const out = createWriteStream(file);
  out.write(`${Array.from({ length: COLUMNS }, (_, at) => `c${String(at)}`).join(",")}\n`);
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967;
  };
  for (let row = 0; row < ROWS; row += 1) {
    const line = Array.from({ length: COLUMNS }, () => next().toFixed(4)).join(",");
    if (!out.write(`${line}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "finish");
}
