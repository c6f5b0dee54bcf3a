// How many durable steps that do nothing run in a second, and what a long run's steps cost, next to others that run
// steps durably on SQLite in this process's own machine. All in one run, taking turns.
import { startChild, type Child, type ChildOptions } from "./peers/child.ts";
import type { LongRun, Task } from "./peers/contender.ts";
import { median, type Report, whole } from "./report.ts";

const PLAN_STEPS = 20;
const ALONE = 1;
const SESSIONS = [ALONE, 32] as const;
const WARM_UP_MS = 2_500;
const RATE_ROUNDS = 5;
const RATE_MS = 900;
const LENGTHS = [
  { planSteps: 100, rounds: 5, limitMs: 10_000 },
  { planSteps: 1_000, rounds: 3, limitMs: 10_000 },
  { planSteps: 10_000, rounds: 9, limitMs: 15_000 },
] as const;
/** A contender that does not even notice that its time is over is ended after this long. */
const PATIENCE_MS = 10_000;
/** All rounds of one length together; what a slow contender cannot do in it, it does fewer times. */
const LENGTH_LIMIT_MS = 16_000;

type Named = ChildOptions & { readonly name: string; readonly isPeer: boolean };

const CONTENDERS: readonly Named[] = [
  { name: "Ergon", isPeer: false, file: "ergon" },
  { name: "Ergon, ERGON_FSYNC=always", isPeer: false, file: "ergon", env: { ERGON_FSYNC: "always" } },
  { name: "Ergon, steps that change things", isPeer: false, file: "ergon", env: { BENCH_EFFECTS: "idempotent" } },
  { name: "Ergon, as its doors answer", isPeer: false, file: "ergon", env: { BENCH_ANSWERS: "synced" } },
  {
    name: "LangGraph.js 1.4.18 + SqliteSaver 1.0.4",
    isPeer: true,
    file: "langgraph",
    packages: [
      "@langchain/langgraph@1.4.18",
      "@langchain/langgraph-checkpoint-sqlite@1.0.4",
      "@langchain/core@1.2.13",
      // Its newest needs what is not there for everybody yet, and npm looks for that for ever.
      "@langchain/langgraph-sdk@1.12.0",
    ],
    machineNode: true,
  },
  {
    name: "Mastra 1.71.0 + LibSQL 1.23.1",
    isPeer: true,
    file: "mastra",
    packages: ["@mastra/core@1.71.0", "@mastra/libsql@1.23.1", "zod@4.6.7"],
  },
  { name: "openworkflow 0.10.1 + SQLite", isPeer: true, file: "openworkflow", packages: ["openworkflow@0.10.1"] },
];

type Entrant = Named & {
  /**
   * A process for each number of sessions: what many at once make a contender do, opening more connections for example,
   * must not stay with it when it runs one.
   */
  readonly children: Map<number, Child>;
  /** Why it is not there, or no longer. */
  trouble: string;
  readonly rates: Map<number, number[]>;
  readonly runs: Map<number, LongRun[]>;
  synchronous: string;
  kept: string;
};

export async function run(): Promise<Report> {
  const entrants: Entrant[] = [];
  for (const named of CONTENDERS) entrants.push(await enter(named));
  try {
    for (const entrant of entrants) for (const sessions of SESSIONS) await rate(entrant, sessions, WARM_UP_MS);
    for (const { rates } of entrants) rates.clear();
    // A B C A B C …: a disk's and a machine's mood change within seconds, and must not favour one of them.
    for (let round = 0; round < RATE_ROUNDS; round += 1)
      for (const sessions of SESSIONS) for (const entrant of entrants) await rate(entrant, sessions, RATE_MS);
    for (const entrant of entrants) await about(entrant);
    for (const { planSteps, rounds, limitMs } of LENGTHS)
      for (let round = 0; round < rounds; round += 1)
        for (const entrant of entrants) await long(entrant, { planSteps, limitMs });
  } finally {
    for (const { children } of entrants) for (const child of children.values()) child.end();
  }
  return reportOf(entrants);
}

async function enter(named: Named): Promise<Entrant> {
  const children = new Map<number, Child>();
  const entrant = { ...named, children, trouble: "", rates: new Map(), runs: new Map(), synchronous: "", kept: "" };
  try {
    for (const sessions of SESSIONS) children.set(sessions, await startChild(named));
  } catch (thrown) {
    entrant.trouble = reasonOf(thrown);
  }
  return entrant;
}

async function ask(entrant: Entrant, sessions: number, task: Task, limitMs: number) {
  const child = entrant.children.get(sessions);
  try {
    return await child?.ask(task, limitMs + PATIENCE_MS);
  } catch (thrown) {
    entrant.trouble = `${task.kind === "long" ? `${whole(task.planSteps)} steps: ` : ""}${reasonOf(thrown)}`;
    child?.end();
    entrant.children.delete(sessions);
    return undefined;
  }
}

async function rate(entrant: Entrant, sessions: number, ms: number): Promise<void> {
  const answer = await ask(entrant, sessions, { kind: "rate", sessions, planSteps: PLAN_STEPS, ms }, ms);
  if (answer?.kind !== "rate") return;
  entrant.rates.set(sessions, [...(entrant.rates.get(sessions) ?? []), answer.stepsPerSecond]);
}

async function about(entrant: Entrant): Promise<void> {
  const kept: string[] = [];
  for (const sessions of SESSIONS) {
    const answer = await ask(entrant, sessions, { kind: "about" }, RATE_MS);
    if (answer?.kind !== "about") continue;
    entrant.synchronous = SYNCHRONOUS[Number(answer.synchronous)] ?? answer.synchronous;
    kept.push(`${whole(answer.stored)} of ${whole(answer.ran)}`);
  }
  entrant.kept = kept.join(" and ");
}

/** As SQLite numbers them. */
const SYNCHRONOUS = ["OFF", "NORMAL", "FULL", "EXTRA"];

async function long(entrant: Entrant, { planSteps, limitMs }: Omit<Extract<Task, { kind: "long" }>, "kind">) {
  const done = entrant.runs.get(planSteps) ?? [];
  const spentMs = done.reduce((sum, { msPerStep, reached }) => sum + msPerStep * reached, 0);
  const wasCut = done.some(({ reached }) => reached < planSteps);
  if (wasCut || spentMs > LENGTH_LIMIT_MS || planSteps > (entrant.children.get(ALONE)?.maxSteps ?? 0)) return;
  const answer = await ask(entrant, ALONE, { kind: "long", planSteps, limitMs }, limitMs);
  if (answer?.kind === "long") entrant.runs.set(planSteps, [...done, answer]);
}

function reportOf(entrants: readonly Entrant[]): Report {
  const columns = ["what", "synchronous", ...SESSIONS.map((sessions) => `steps/s at ${String(sessions)}`)];
  return {
    title: `plans: durable steps that do nothing`,
    columns: [...columns, ...LENGTHS.map(({ planSteps }) => `ms/step of ${whole(planSteps)}`), "second half : first"],
    rows: entrants.map((entrant) => [
      entrant.name,
      entrant.synchronous,
      ...SESSIONS.map((sessions) => rateText(entrant.rates.get(sessions) ?? [])),
      ...LENGTHS.map(({ planSteps }) => longText(entrant, planSteps)),
      growthText(entrant.runs.get(10_000) ?? []),
    ]),
    notes: [
      ...comparisons(entrants),
      ...entrants.filter(({ trouble }) => trouble !== "").map(({ name, trouble }) => `${name} gave up: ${trouble}`),
      `Steps in the database at the end of the rates, of those that ran: ${entrants.map(({ name, kept }) => `${name} ${kept}`).join("; ")}.`,
      `steps/s: plans of ${String(PLAN_STEPS)} steps, one after the other in each session; median of ${String(RATE_ROUNDS)} interleaved rounds of ${String(RATE_MS)} ms, slowest and fastest in brackets. Each contender in a process of its own for each number of sessions, warmed up before.`,
      "ms/step: one plan alone, from its start to its end; median of up to 5, 3 and 9 rounds. A run that was cut at its time limit is marked with the step it reached.",
      "second half : first is what a step costs in the second half of a run of 10,000 over what it costs in the first, from its hundredth step on. Halves, because the store puts its newest commits into their tables once in some 1,500 steps, and its log into the database once in some 10,000: a shorter stretch has one of that, or none.",
      "Ergon is used as the peers are, by a program in the same process: an answer survives the death of the process. Where it is told outside (HTTP, MCP, the command line) the disk has it first: that is the row of its doors, and one sync more for each plan.",
      "A step that does nothing may be repeated after a crash, so those of one turn of the event loop share a commit; a step that changes things waits until its own intent is stored.",
      "Peers as they set themselves up. Mastra sets the first of its connections to NORMAL and leaves those that it opens later, for work at the same time, at FULL: at 1 it never syncs, at 32 it has rounds with one and rounds with the other. LangGraph.js with durability sync, under the machine's own Node; plans over 20 steps are one node that goes round. openworkflow refuses more than 1,000 steps.",
    ],
  };
}

/** The aims, each next to what came out. */
function comparisons(entrants: readonly Entrant[]): string[] {
  const peers = entrants.filter(({ isPeer }) => isPeer);
  const at = ({ rates }: Entrant, sessions: number): number => median(rates.get(sessions) ?? []);
  const best = (sessions: number, among: readonly Entrant[]): Entrant | undefined =>
    among.filter((peer) => at(peer, sessions) > 0).toSorted((a, b) => at(b, sessions) - at(a, sessions))[0];
  const [byDefault, always, changing, answering] = entrants;
  const lines: string[] = [];
  const compare = (own: Entrant | undefined, sessions: number, aim?: number): void => {
    const peer = best(sessions, peers);
    if (own === undefined || peer === undefined) return;
    const times = (other: Entrant): string => `${(at(own, sessions) / at(other, sessions)).toFixed(1)} times`;
    const synced = best(
      sessions,
      peers.filter(({ synchronous }) => synchronous === "FULL"),
    );
    const alike =
      synced === undefined || synced === peer ? "" : `; ${times(synced)} ${synced.name}, the best that syncs`;
    const fastest = Math.max(...peers.flatMap(({ rates }) => rates.get(sessions) ?? []));
    lines.push(
      `${own.name} at ${String(sessions)}: ${times(peer)} the best peer, ${peer.name}${aim === undefined ? "" : ` (aim ${String(aim)})`}, and ${(at(own, sessions) / fastest).toFixed(1)} times the fastest round of any${alike}.`,
    );
  };
  compare(always, 32, 10);
  compare(byDefault, 1, 10);
  compare(always, 1, 5);
  compare(byDefault, 32, 10);
  for (const own of [changing, answering]) for (const sessions of SESSIONS) compare(own, sessions);
  return lines;
}

function rateText(rates: readonly number[]): string {
  if (rates.length === 0) return "";
  return `${whole(median(rates))} (${whole(Math.min(...rates))} to ${whole(Math.max(...rates))})`;
}

function longText({ runs, children }: Entrant, planSteps: number): string {
  const done = runs.get(planSteps) ?? [];
  const child = children.get(ALONE);
  if (done.length === 0) return child !== undefined && planSteps > child.maxSteps ? "refused" : "none";
  const cut = done.find(({ reached }) => reached < planSteps);
  const ms = median(done.map(({ msPerStep }) => msPerStep)).toFixed(3);
  return cut === undefined ? ms : `${ms} (cut at step ${whole(cut.reached)})`;
}

function growthText(runs: readonly LongRun[]): string {
  const ratios = runs.map(({ earlyMs, lateMs }) => lateMs / earlyMs).filter((ratio) => Number.isFinite(ratio));
  return ratios.length === 0 ? "" : median(ratios).toFixed(2);
}

function reasonOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return text.replaceAll(/\s+/g, " ").slice(0, 300);
}
