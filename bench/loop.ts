// What the planner loop adds around its tools: in memory with a plan that is given, over ten thousand turns, and with a
// model behind HTTP that takes a second and a half for each answer.
import { createSystemClock, defineTool, McpLoopRunner, type PlannedAction, ToolRegistry } from "@ergon/core";
import { createHashEmbedder } from "@ergon/core/store-kit";
import { createAiModel } from "@ergon/node";
import { z } from "zod";
import { startScriptedServer } from "../packages/node/src/models/scripted-server.fixture.ts";
import { median, type Report } from "./report.ts";

const TOOLS = 5;
const WARM_UP_TURNS = 300;
const TURNS = 1_000;
const LONG_TURNS = 10_000;
const MODEL_TURNS = 10;
const MODEL_DELAY_MS = 1_500;
const AIM_OVERHEAD_MS = 5;
const AIM_GROWTH_MB = 5;
const AIM_MODEL_MS = 10_000;

const plan: readonly PlannedAction[] = Array.from({ length: TOOLS }, (_, n) => ({
  tool: `tool_${String(n)}`,
  args: { n },
}));

export async function run(): Promise<Report> {
  const registry = tools();
  const embedder = createHashEmbedder();
  const runner = new McpLoopRunner({ registry, embedder, planner: () => plan });
  const overhead = await turns(runner, TURNS, WARM_UP_TURNS);
  const growth = await heapGrowth(runner);
  const offline = await turns(new McpLoopRunner({ registry, embedder }), 200, 20);
  const model = await withModel(registry);
  return {
    title: `loop: a turn around ${String(TOOLS)} tools that do nothing (aims: ${String(AIM_OVERHEAD_MS)} ms at the median, ${String(AIM_GROWTH_MB)} MB over ${String(LONG_TURNS)} turns, ${String(AIM_MODEL_MS / 1_000)} s at p90 with a model)`,
    columns: ["what", "p50", "p90", "p99"],
    rows: [
      ["in memory, the plan given", ...ms(overhead)],
      ["in memory, offline planner", ...ms(offline)],
      [`model over HTTP, ${String(MODEL_DELAY_MS)} ms an answer, two a turn`, ...ms(model)],
      [
        `heap after ${String(LONG_TURNS)} turns in ${String(LONG_TURNS / 2)} sessions, beyond the first ${String(LONG_TURNS / 10)}`,
        `${growth.toFixed(2)} MB`,
        "",
        "",
      ],
    ],
    notes: [
      "A turn embeds the message (hashed words), recalls the session, plans, checks the plan, runs it on an engine of its own in memory, and remembers the answer.",
      "The heap is read after a full collection.",
    ],
  };
}

function tools(): ToolRegistry {
  const registry = new ToolRegistry();
  for (let n = 0; n < TOOLS; n += 1) {
    registry.register(
      defineTool({
        name: `tool_${String(n)}`,
        title: `Look number ${String(n)} up`,
        description: `Looks number ${String(n)} up.`,
        argsSchema: z.object({ n: z.number() }),
        effects: "pure",
        run: ({ args }) => ({ n: args.n, found: "something" }),
      }),
    );
  }
  return registry;
}

async function turns(runner: McpLoopRunner, count: number, warmUp: number): Promise<readonly number[]> {
  const times: number[] = [];
  for (let at = 0; at < warmUp + count; at += 1) {
    const started = performance.now();
    const response = await runner.run(requestFor(at));
    if (!response.success) throw new Error(response.error);
    if (at >= warmUp) times.push(performance.now() - started);
  }
  return times;
}

function requestFor(at: number) {
  const messages = [{ role: "user" as const, content: `look number ${String(at % TOOLS)} up` }];
  return { mode: "general" as const, sessionId: `s${String(Math.floor(at / 2))}`, messages };
}

async function heapGrowth(runner: McpLoopRunner): Promise<number> {
  for (let at = 0; at < LONG_TURNS / 10; at += 1) await runner.run(requestFor(at));
  const before = await heapUsed();
  for (let at = 0; at < LONG_TURNS; at += 1) await runner.run(requestFor(at + LONG_TURNS));
  return ((await heapUsed()) - before) / 1024 / 1024;
}

async function heapUsed(): Promise<number> {
  const { setFlagsFromString } = await import("node:v8");
  const { runInNewContext } = await import("node:vm");
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let times = 0; times < 3; times += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

async function withModel(registry: ToolRegistry): Promise<readonly number[]> {
  const planned = JSON.stringify([...plan, { tool: "finalize_summary", args: {} }]);
  const replies = Array.from({ length: MODEL_TURNS }, () => [planned, "All five were found."]).flat();
  const server = await startScriptedServer(
    replies.map((text) => ({ kind: "text", text, delayMs: MODEL_DELAY_MS }) as const),
  );
  try {
    const service = {
      id: "local/scripted",
      provider: "local",
      model: "scripted",
      speaks: "openai-compatible",
    } as const;
    const model = createAiModel({ service: { ...service, url: server.url }, clock: createSystemClock() });
    return await turns(new McpLoopRunner({ registry, model }), MODEL_TURNS, 0);
  } finally {
    await server.close();
  }
}

function ms(times: readonly number[]): readonly string[] {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => `${(sorted[Math.floor(sorted.length * part)] ?? Number.NaN).toFixed(2)} ms`;
  return [`${median(sorted).toFixed(2)} ms`, at(0.9), at(0.99)];
}
