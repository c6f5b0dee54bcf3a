// The process that a contender lives in: opens it and does what the bench asks, over the parent's channel.
import type { Answer, LongRun, OpenContender, Task } from "./contender.ts";

/** Where the first half of a run begins: what starting it costs is over by then. */
const EARLY_FROM = 100;

const [file = "", folder = ""] = process.argv.slice(2);
const { open } = (await import(file)) as { readonly open: OpenContender };
process.on("disconnect", () => process.exit(0));

let ran = 0;
let times: number[] | undefined;
const contender = await open({
  folder,
  stepped: () => {
    ran += 1;
    times?.push(performance.now());
  },
});
process.on("message", (task: Task) => {
  answer(task).then(tell, (thrown: unknown) => tell({ kind: "failed", reason: String(thrown) }));
});
tell({ kind: "ready", maxSteps: contender.maxSteps });

function tell(said: Answer): void {
  process.send?.(said);
}

async function answer(task: Task): Promise<Answer> {
  switch (task.kind) {
    case "rate":
      return { kind: "rate", stepsPerSecond: await rate(task.sessions, task.planSteps, task.ms) };
    case "long":
      return { kind: "long", ...(await long(task.planSteps, task.limitMs)) };
    case "about":
      return { kind: "about", ...(await about()) };
  }
}

async function about() {
  return { synchronous: await contender.synchronous(), ran, stored: await contender.storedSteps() };
}

async function rate(sessions: number, planSteps: number, ms: number): Promise<number> {
  const before = ran;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      do await contender.run(planSteps, sessions);
      while (performance.now() - started < ms);
    }),
  );
  return ((ran - before) / (performance.now() - started)) * 1_000;
}

async function long(planSteps: number, limitMs: number): Promise<LongRun> {
  const own: number[] = [];
  times = own;
  const started = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([contender.run(planSteps, 1), limit]);
  const ms = performance.now() - started;
  clearTimeout(timer);
  times = undefined;
  const reached = own.length;
  const middle = Math.floor((EARLY_FROM + reached) / 2);
  return {
    reached,
    msPerStep: ms / reached,
    earlyMs: stretch(own, EARLY_FROM, middle),
    lateMs: stretch(own, middle, reached - 1),
  };
}

/** Milliseconds a step, between the ends of two of them. */
function stretch(at: readonly number[], from: number, to: number): number {
  const [first, last] = [at[from], at[to]];
  return first === undefined || last === undefined || to <= from ? Number.NaN : (last - first) / (to - from);
}
