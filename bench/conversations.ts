// How soon a message is taken in, and how soon it is answered when the model takes no time: the loop, the stores and HTTP
// of a real server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startScriptedServer } from "../packages/node/src/models/scripted-server.fixture.ts";
import { serveFolder } from "../test/e2e/served.ts";
import type { Report } from "./report.ts";

const MESSAGES = 200;
const AIM_MS = 100;

export async function run(): Promise<Report> {
  const home = mkdtempSync(join(tmpdir(), "ergon-bench-"));
  const respond = JSON.stringify({ tool: "respond", args: { content: "Yes." } });
  const quick = await startScriptedServer([respond]);
  try {
    return await measured(home, quick.url);
  } finally {
    await quick.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function measured(home: string, modelUrl: string): Promise<Report> {
  const env = { ERGON_MODEL: "local/quick", ERGON_MODEL_URL: modelUrl, ERGON_ENERGY_RATE: "1000" };
  const server = await serveFolder(join(home, "data"), { cwd: home, env });
  const ask = async (path: string, body?: unknown, wait = false): Promise<Record<string, unknown>> => {
    const response = await fetch(new URL(path, server.url), {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${server.token}`,
        "content-type": "application/json",
        ...(wait ? { prefer: "wait=60" } : {}),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Record<string, unknown>;
  };
  try {
    const taken: number[] = [];
    const answered: number[] = [];
    for (let n = 0; n < MESSAGES; n += 1)
      taken.push(await timed(() => ask("/message", { content: `Question ${String(n)}` })));
    for (let n = 0; n < MESSAGES; n += 1)
      answered.push(await timed(() => ask("/message", { content: `Question ${String(n)}` }, true)));
    const stats = (await ask("/stats"))["conversations"] as { wakeMs: { p50: number; p99: number; max: number } };
    const { p50, p99, max } = stats.wakeMs;
    return {
      title: `conversations: a message over HTTP (aim: ${String(AIM_MS)} ms at p99 for taking it in)`,
      columns: ["what", "p50", "p99", "max"],
      rows: [
        ["taken in (202), answers coming beside it", ...ms(taken)],
        ["asked and answered by a model that takes no time", ...ms(answered)],
        ["the loop, from being woken to having begun what there is", ...[p50, p99, max].map(shown)],
      ],
      notes: [`${String(MESSAGES)} messages each, one after the other, each a conversation of its own.`],
    };
  } finally {
    await server.stop("SIGTERM");
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function ms(values: readonly number[]): readonly string[] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return [at(0.5), at(0.99), sorted.at(-1) ?? 0].map(shown);
}

function shown(value: number): string {
  return `${value.toFixed(1)} ms`;
}
