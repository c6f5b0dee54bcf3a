// How long code waits for its sandbox: with nothing started, with a runtime that is ready, and eight at once.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, type Sandbox } from "@ergon/core";
import type { SandboxProfileName, SandboxRequest } from "@ergon/core/schema";
import { createLocalSandbox } from "@ergon/node";
import { buildDist } from "../scripts/build-dist.ts";
import { PROBES } from "../packages/node/src/sandbox/probes.fixture.ts";
import { median, type Report, whole } from "./report.ts";

const ROUNDS = 9;
const AT_ONCE = 8;
/** Longer than a spare takes to start: what is measured is one that is ready. */
const SPARE_MS = 4_000;
const AIMS = "aims for python: cold 700 ms, pooled 60 ms at the median; after an abuse: 1 s";

type Row = {
  readonly profile: SandboxProfileName;
  readonly language: SandboxRequest["language"];
  readonly code: string;
};

const CODE = { python: "sum(range(1000))", javascript: "return 499500" } as const;

export async function run(): Promise<Report> {
  const cacheFolder = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  // As people run it: from the sources Deno would first have to take the types away, at every start.
  await buildDist();
  const bundle = join(import.meta.dirname, "../apps/ergon/dist/sandbox");
  const open = (spares: number): Sandbox =>
    createLocalSandbox({ bundle, cacheFolder, clock: createSystemClock(), spares });
  try {
    const cold = open(0);
    const profiles = (await cold.profiles()).filter(({ available }) => available);
    const wanted = profiles.flatMap(({ name: profile, languages }) =>
      languages.map((language): Row => ({ profile, language, code: CODE[language] })),
    );
    const rows: string[][] = [];
    const abused: string[] = [];
    for (const request of wanted) {
      // The first python of a folder makes what the others start from.
      const first = await timeOf(cold, request);
      const colds = await inTurn(ROUNDS, () => timeOf(cold, request));
      const warm = open(2);
      await timeOf(warm, request);
      const pooled = await inTurn(ROUNDS, async () => {
        await new Promise((resolve) => setTimeout(resolve, SPARE_MS));
        return timeOf(warm, request);
      });
      const startedAt = performance.now();
      const together = await Promise.all(Array.from({ length: AT_ONCE }, () => timeOf(warm, request)));
      const allMs = performance.now() - startedAt;
      await warm.close();
      rows.push([
        `${request.profile}, ${request.language}`,
        whole(first),
        whole(median(colds)),
        whole(median(pooled)),
        `${together.length} of ${AT_ONCE} in ${whole(allMs)} ms`,
      ]);
    }
    for (const { name } of profiles) abused.push(await afterAbuse(open(2), name));
    await cold.close();
    return {
      title: `sandbox: from the request to the result (${AIMS})`,
      columns: ["profile, language", "first ms", "cold p50 ms", "pooled p50 ms", `${AT_ONCE} at once`],
      rows,
      notes: [
        ...abused,
        "Cold: no runtime is started. Pooled: one is ready. First: the very first on a data folder, where a python makes its snapshot.",
        `${ROUNDS} rounds each, one after the other; at once as many run as there are cores, the others wait.`,
      ],
    };
  } finally {
    rmSync(cacheFolder, { recursive: true });
  }
}

/** How long the next call takes when code has just been as bad as it can be: endless, greedy, forging, dying. */
async function afterAbuse(sandbox: Sandbox, profile: SandboxProfileName): Promise<string> {
  const next: Row = { profile, language: "python", code: CODE.python };
  const times: number[] = [];
  try {
    await timeOf(sandbox, next);
    for (const { language, code, timeoutMs = 20_000, ends } of PROBES[profile]) {
      if (ends === undefined) continue;
      await sandbox.execute({ language, code, profile, timeoutMs, inputs: {} });
      times.push(await timeOf(sandbox, next));
    }
  } finally {
    await sandbox.close();
  }
  return `${profile}: after each of ${times.length} abuses the next python call was answered, in ${whole(median(times))} ms at the median and ${whole(Math.max(...times))} ms at worst.`;
}

async function timeOf(sandbox: Sandbox, request: Row): Promise<number> {
  const startedAt = performance.now();
  const { status, returnValue, stderr } = await sandbox.execute(request);
  if (status !== "success" || returnValue !== 499_500) throw new Error(`${status}: ${stderr}`);
  return performance.now() - startedAt;
}

async function inTurn(count: number, once: () => Promise<number>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) times.push(await once());
  return times;
}
