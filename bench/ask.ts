// How long a person waits for `ergon ask` about the sample data: a new process each time, after the first start.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { median, type Report } from "./report.ts";

const ROUNDS = 9;
const launcher = join(import.meta.dirname, "../apps/ergon/bin/ergon.js");
const QUESTION = "Which capabilities is Amara Osei missing for Data Engineer, and what should they learn first?";

export async function run(): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  try {
    const first = await asked(folder);
    const rounds: Asked[] = [];
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await asked(folder));
    const row = (what: string, of: (one: Asked) => number): string[] => {
      const times = rounds.map(of).sort((a, b) => a - b);
      return [
        what,
        seconds(of(first)),
        seconds(median(times)),
        `${seconds(times[0] ?? 0)} to ${seconds(times.at(-1) ?? 0)}`,
      ];
    };
    return {
      title:
        "ask: a question about the sample data, from the command to its end (aim: under 4 s after the first start)",
      columns: ["what", "first start (s)", "median (s)", "best and worst round"],
      rows: [
        row("the whole command", ({ wallMs }) => wallMs),
        row("of it: loading and embedding the message", ({ stages }) => stages["context"] ?? 0),
        row("of it: planning, the database's start included", ({ stages }) => stages["plan"] ?? 0),
        row("of it: the actions", ({ stages }) => stages["execute"] ?? 0),
      ],
      notes: [`${String(ROUNDS)} processes, one after the other; no key, no network, the embedded database.`],
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Asked = { readonly wallMs: number; readonly stages: Readonly<Record<string, number>> };

async function asked(cwd: string): Promise<Asked> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [launcher, "ask", QUESTION, "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const answer = JSON.parse(await text(child.stdout)) as Answer;
  const wallMs = performance.now() - startedMs;
  if (!answer.data.summaryMessage.includes("43% ready")) throw new Error("The answer is not the right one.");
  return { wallMs, stages: Object.fromEntries(answer.data.trace.stages.map(({ stage, ms }) => [stage, ms])) };
}

type Answer = {
  readonly data: {
    readonly summaryMessage: string;
    readonly trace: { readonly stages: readonly { readonly stage: string; readonly ms: number }[] };
  };
};

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(2);
}
