// How often the offline planner chooses the right tool and reads the right arguments, over every pack that comes with
// Ergon. Half of the requests are held out: they were not looked at while it was tuned.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSystemClock, type PlannerInput, silentLogger, ToolRegistry } from "@ergon/core";
import { createToolGate } from "@ergon/core/engine";
import { createOfflinePlanner, createToolEntities } from "@ergon/core/planner";
import { createBundledEmbedder, createSupabase, installModuleHooks, loadFolder } from "@ergon/node";
import { type EvalRequest, REQUESTS } from "./offline-planner/requests.ts";
import type { Report } from "./report.ts";

/** The aim, as a share of all requests. */
const AIM_TOP_3 = 0.85;

type Judged = {
  readonly request: EvalRequest;
  readonly first: boolean;
  readonly among3: boolean;
  readonly args: boolean;
  readonly asked: boolean;
  /** It planned a tool that was not asked for. */
  readonly extra: boolean;
  readonly ms: number;
  readonly got: string;
};

export async function run(): Promise<Report> {
  const world = await open();
  const judged: Judged[] = [];
  try {
    for (const request of REQUESTS) judged.push(await world.judge(request));
  } finally {
    await world.close();
  }
  const wrong = judged.filter(({ first, args, extra, request }) => !request.held && !(first && args && !extra));
  if (process.env["SHOW_WRONG"] !== undefined)
    for (const { request, got } of wrong) console.log(`${request.text}\n   ${got}`);
  const packs = [...new Set(REQUESTS.map(({ pack }) => pack))];
  return {
    title: `offline planner: the right tool and its arguments (aim ${percent(AIM_TOP_3)} among the first three)`,
    columns: [
      "requests",
      "how many",
      "first",
      "among the first three",
      "asked instead",
      "a tool too many",
      "arguments, where the tool is right",
    ],
    rows: [
      rowOf("all", judged),
      rowOf(
        "tuned on",
        judged.filter(({ request }) => !request.held),
      ),
      rowOf(
        "held out",
        judged.filter(({ request }) => request.held),
      ),
      ...packs.map((pack) =>
        rowOf(
          `${pack}, held out`,
          judged.filter(({ request }) => request.held && request.pack === pack),
        ),
      ),
    ],
    notes: [
      `${String(world.tools)} tools to choose from; the bundled sentence encoder, keywords, and the names that the talent pack knows. ${medianMs(judged)} ms a plan at the median.`,
      '"First": the first tool of the plan; for requests that no tool fits (pack none), that it asked. "Among the first three": of the plan, then of the ranking. Arguments count as right when every one that the message gives is exactly so.',
    ],
  };
}

async function open() {
  const folder = mkdtempSync(join(tmpdir(), "ergon-eval-"));
  const root = join(import.meta.dirname, "..");
  const clock = createSystemClock();
  const embedder = createBundledEmbedder();
  const registry = new ToolRegistry();
  const shared = Object.fromEntries(["zod", "zod/v4", "@ergon/core"].map((name) => [name, import.meta.resolve(name)]));
  const { tools } = await loadFolder(join(root, "capabilities"), { hooks: installModuleHooks(shared) });
  for (const tool of tools) registry.register(tool);
  const supabase = createSupabase({ dataFolder: folder, schema: join(root, "supabase"), logger: silentLogger });
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  const infrastructure = { supabase: supabase.client };
  const entities = createToolEntities({ registry, gate, clock, owner: "bench", infrastructure });
  const planner = createOfflinePlanner({ embedder, entities });

  return {
    tools: tools.length,
    judge: async (request: EvalRequest): Promise<Judged> => {
      let ranking: readonly string[] = [];
      const input: PlannerInput = {
        message: request.text,
        mode: "general",
        sessionId: "s",
        context: {},
        conversation: { recentMessages: [], semanticMatches: [] },
        tools: registry.list({ role: "general" }),
        recommendations: [],
        note: { modelCall: () => undefined, warning: () => undefined, ranking: (ids) => (ranking = ids) },
      };
      const started = performance.now();
      const answered = await planner(input);
      const ms = performance.now() - started;
      const plan = "plan" in answered ? answered.plan : answered;
      const planned = plan.map(({ tool }) => tool);
      const chosen = plan.find(({ tool }) => tool === request.tool);
      const got = Object.entries(request.args).every(
        ([name, value]) => JSON.stringify(chosen?.args[name]) === JSON.stringify(value),
      );
      return {
        request,
        asked: plan.length === 0,
        extra: planned.some((tool) => tool !== request.tool),
        first: (planned[0] ?? "") === request.tool,
        among3:
          request.tool === ""
            ? plan.length === 0
            : [...new Set([...planned, ...ranking])].slice(0, 3).includes(request.tool),
        args: request.tool === "" ? plan.length === 0 : chosen !== undefined && got,
        ms,
        got: `${JSON.stringify(plan.map(({ tool, args }) => [tool, args]))} ranking ${ranking.slice(0, 3).join(", ")} ${"question" in answered ? (answered.question ?? "") : ""}`,
      };
    },
    close: async () => {
      await supabase.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function rowOf(name: string, judged: readonly Judged[]): readonly string[] {
  const share = (good: (one: Judged) => boolean, of = judged) => percent(of.filter(good).length / of.length);
  const right = judged.filter(({ first, request }) => first && request.tool !== "");
  return [
    name,
    String(judged.length),
    share(({ first }) => first),
    share(({ among3 }) => among3),
    share(({ asked, request }) => asked && request.tool !== ""),
    share(({ extra, first }) => extra && first),
    share(({ args }) => args, right),
  ];
}

function percent(share: number): string {
  return Number.isNaN(share) ? "-" : `${String(Math.round(share * 100))}%`;
}

function medianMs(judged: readonly Judged[]): string {
  const sorted = judged.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return (sorted[Math.floor(sorted.length / 2)] ?? Number.NaN).toFixed(0);
}
