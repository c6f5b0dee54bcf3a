// What the gate adds to a call of a tool that does nothing, next to the bare call and to bare validation.
import { createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { createToolGate, type ToolCall, type ToolGate } from "@ergon/core/engine";
import { Ajv2020 } from "ajv/dist/2020.js";
import { z } from "zod";
import { median, type Report } from "./report.ts";

const ROUNDS = 9;
const CALLS_PER_ROUND = 5_000;
const WARM_UP_CALLS = 20_000;
/** The gate's aim, in microseconds at the median. */
const AIM_US = 20;

const args = { city: "Oslo", days: 3 };
const zodSchema = z.object({ city: z.string(), days: z.number().int().min(1) });
const jsonSchema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
};

type Contender = { readonly name: string; readonly once: () => Promise<unknown> };

export async function run(): Promise<Report> {
  const contenders = await createContenders();
  for (const { once } of contenders) for (let n = 0; n < WARM_UP_CALLS; n += 1) await once();
  // A B C A B C …, so that a busy moment of the machine does not favour one of them.
  const times = contenders.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [n, { once }] of contenders.entries()) times[n]?.push(...(await timesOf(once)));
  }
  return {
    title: `gate: check and invoke of a no-op tool (aim ${String(AIM_US)} µs at the median)`,
    columns: ["what", "p50 µs", "p95 µs", "p99 µs"],
    rows: contenders.map(({ name }, n) => {
      const sorted = (times[n] ?? []).toSorted((a, b) => a - b);
      const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? Number.NaN).toFixed(2);
      return [name, median(sorted).toFixed(2), at(0.95), at(0.99)];
    }),
    notes: [
      "The gate's figure is the whole of check and invoke: validation, hashing the arguments, policy, time limit, checking and copying the output, rows.",
      `${String(ROUNDS)} interleaved rounds of ${String(CALLS_PER_ROUND)} calls each, after ${String(WARM_UP_CALLS)} to warm up; no store.`,
    ],
  };
}

async function createContenders(): Promise<readonly Contender[]> {
  const registry = new ToolRegistry();
  registry.register({ name: "by-zod", description: "Does nothing.", argsSchema: zodSchema, run: async () => null });
  registry.register({
    definition: { id: "by-json-schema", description: "Does nothing.", parameters: jsonSchema },
    implementation: async () => null,
  });
  registry.register({
    name: "echo",
    description: "Returns its args.",
    argsSchema: zodSchema,
    run: async (params) => params.args,
  });
  const gate = createToolGate({ registry, clock: createSystemClock(), logger: silentLogger });
  const noop = async (_args: unknown): Promise<null> => null;
  const ajv = new Ajv2020().compile(jsonSchema);
  return [
    { name: "bare async function", once: () => noop(args) },
    { name: "bare zod + function", once: () => noop(zodSchema.parse(args)) },
    { name: "bare ajv + function", once: () => (ajv(args) ? noop(args) : Promise.reject(new Error("not valid"))) },
    { name: "gate, zod tool", once: await through(gate, "by-zod") },
    { name: "gate, JSON Schema tool", once: await through(gate, "by-json-schema") },
    { name: "gate, zod tool with a result", once: await through(gate, "echo") },
    {
      name: "gate, zod tool, caller's signal and progress",
      once: await through(gate, "by-zod", new AbortController().signal),
    },
  ];
}

async function through(gate: ToolGate, toolId: string, signal?: AbortSignal): Promise<Contender["once"]> {
  const call: ToolCall = { toolId, args, context: {}, caller: { kind: "plan", owner: "bench" }, sessionId: "bench" };
  const heard = signal === undefined ? {} : { signal, progress: () => undefined };
  const once = async (): Promise<unknown> => {
    const answer = gate.check(call);
    const checked = answer instanceof Promise ? await answer : answer;
    if (checked.kind !== "allowed") throw new Error(JSON.stringify(checked));
    const outcome = await gate.invoke(checked, { idempotencyKey: "bench", context: {}, ...heard });
    if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome.error));
    return outcome;
  };
  await once();
  return once;
}

async function timesOf(once: () => Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < CALLS_PER_ROUND; n += 1) {
    const started = performance.now();
    await once();
    times.push((performance.now() - started) * 1_000);
  }
  return times;
}
