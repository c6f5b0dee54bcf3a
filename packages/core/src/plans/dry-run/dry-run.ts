/*
 * Walks a plan with simulated effects, on the real engine over a store of its own that is thrown away: no tool is called,
 * nobody is asked, nothing is charged, nothing is kept.
 */
import { createMemoryBlobStore } from "../../memory/blob-store.ts";
import { silentLogger } from "../../memory/logger.ts";
import { createMemoryStateStore } from "../../memory/state-store.ts";
import type { BlobStore } from "../../ports/blob-store.ts";
import type { Clock } from "../../ports/clock.ts";
import type { CreateSession, Engine } from "../../ports/engine.ts";
import type { Ids } from "../../ports/ids.ts";
import type { JournalRow, StateStore } from "../../ports/state-store.ts";
import { isBlobRef } from "../../schema/blob.ts";
import type { DryCall, DryProblem, DryRunReport, DryWait } from "../../schema/dry-run.ts";
import type { Json } from "../../schema/values/json.ts";
import type { AgenticPlan } from "../../schema/plan.ts";
import type { ToolGate } from "../../tools/gate/gate.ts";
import { sampleValue } from "../../tools/json-schema/sample-value.ts";
import type { ToolRegistry } from "../../tools/registry.ts";
import { createEngine, type EmbeddedEngine } from "../engine/engine.ts";
import type { PlanLookup } from "../engine/engine-deps.ts";
import { indexPlan } from "../interpreter.ts";
import { FINAL_RESPONSE_KEY } from "../steps/final-response.ts";
import { visitNames } from "../visit-name.ts";
import { stepsOnMadeUp } from "./made-up.ts";
import { createSimulatedGate, NO_SAMPLE } from "./simulated-gate.ts";

/** Made-up values may keep a plan going round: it is given up after so many calls or questions, or so long. */
export const MAX_DRY_CALLS = 1_000;
export const MAX_DRY_WAITS = 1_000;
const MAX_DRY_MS = 10_000;
/** Values whose JSON is longer are not shown. */
export const MAX_SHOWN_CHARS = 16 * 1024;

/** Errors that come from the values that a step meets. */
const FROM_VALUES: ReadonlySet<string> = new Set([
  "pointer_unresolved",
  "not_iterable",
  "condition_type",
  "args_invalid",
]);

export type DryRun = (request: DryRunRequest) => Promise<DryRunReport>;

type DryRunRequest = Pick<CreateSession, "owner" | "context" | "mode" | "energyBudget"> & {
  readonly plan: AgenticPlan | string;
  readonly input?: Json;
  /** Reads what the given context refers to. */
  readonly readBlob?: Engine["readBlob"];
};

export type DryRunDeps = {
  readonly gate: ToolGate;
  readonly registry: ToolRegistry;
  readonly plans: PlanLookup;
  readonly clock: Clock;
  readonly ids: Ids;
};

export function createDryRun(deps: DryRunDeps): DryRun {
  return async ({ plan, input, readBlob, ...session }) => {
    const { owner } = session;
    const noted = new Map<string, string | undefined>();
    const enough = new AbortController();
    const toolsCalled = new Set<string>();
    const note = (key: string, toolId: string, approval: string | undefined): boolean => {
      toolsCalled.add(toolId);
      if (noted.size >= MAX_DRY_CALLS) enough.abort();
      else noted.set(key, approval);
      return !enough.signal.aborted;
    };
    const gate = createSimulatedGate({ ...deps, note });
    const scratch = createScratch(readBlob);
    const engine = createEngine({ ...deps, ...scratch, gate, logger: silentLogger });
    try {
      const { sessionId } = await engine.createSession(session);
      await engine.executePlan({ owner, sessionId, plan, ...(input === undefined ? {} : { input }) });
      const unknownOutputs = (): string[] => {
        const known = [...toolsCalled].filter((id) => deps.registry.get(id)?.outputSchema === undefined);
        return known.sort();
      };
      const record = await scratch.store.readSession(sessionId);
      const walked = await scratch.store.readPlan(record?.planHash ?? "");
      if (walked === undefined) throw new Error("The plan that is walked is not in its store.");
      const onMadeUp = stepsOnMadeUp(indexPlan(walked));
      const walk = await walkThrough({
        isUnsure: (code, stepId) => code === NO_SAMPLE || (FROM_VALUES.has(code) && onMadeUp.has(stepId)),
        engine,
        owner,
        clock: deps.clock,
        sessionId,
        enough: enough.signal,
      });
      const rows = await scratch.store.readJournal({ sessionId, order: "oldest", limit: MAX_DRY_CALLS });
      const names = visitNames({ plan: walked });
      const calls = rows.map((row) => describeCall(row, names(row.stepId ?? "", row.position), noted.get(row.key)));
      const { context } = await engine.readSession({ owner, sessionId, historyLimit: 1 });
      return report(walked, { calls, walk, unknownOutputs: unknownOutputs(), response: context[FINAL_RESPONSE_KEY] });
    } finally {
      await engine.close();
    }
  };
}

/** A store that nobody else sees; blobs that the context refers to are read where they are. */
function createScratch(readBlob: Engine["readBlob"] | undefined): {
  readonly store: StateStore;
  readonly blobs: BlobStore;
} {
  const store = createMemoryStateStore();
  const blobs = createMemoryBlobStore();
  if (readBlob === undefined) return { store, blobs };
  const owners = new Map<string, string>();
  return {
    store: {
      ...store,
      readBlobRow: async (id, owner) => {
        const own = await store.readBlobRow(id, owner);
        if (own !== undefined || owner === undefined) return own;
        const { bytes, mediaType } = await readBlob({ owner, id });
        owners.set(id, owner);
        return { ref: { $blob: id, bytes: bytes.byteLength, mediaType }, at: "", owner };
      },
    },
    blobs: {
      ...blobs,
      get: async (id) => {
        const owner = owners.get(id);
        return owner === undefined ? await blobs.get(id) : (await readBlob({ owner, id })).bytes;
      },
    },
  };
}

function describeCall(row: JournalRow, path: string, approval: string | undefined): DryCall {
  const { stepId = "", toolId, effects, request, result, energyUnits } = row;
  const output = result !== undefined && "output" in result ? shown("output", result.output) : {};
  const asked = approval === undefined ? {} : { approval };
  return { path, stepId, toolId, effects, ...shown("arguments", request), ...output, energyUnits, ...asked };
}

function shown<Key extends string>(key: Key, value: Json): { readonly [K in Key]?: Json } {
  const fits = !isBlobRef(value) && JSON.stringify(value).length <= MAX_SHOWN_CHARS;
  return (fits ? { [key]: value } : {}) as { readonly [K in Key]?: Json };
}

type Walk = {
  readonly waits: readonly DryWait[];
  readonly problems: readonly DryProblem[];
  readonly stopped: string | undefined;
  readonly isCompleted: boolean;
};

/** Answers every question, and skips every step that cannot go on, until there is nothing left. */
async function walkThrough(parts: {
  readonly engine: EmbeddedEngine;
  readonly owner: string;
  readonly sessionId: string;
  readonly clock: Clock;
  /** Aborts when one call more than allowed was to be made. */
  readonly enough: AbortSignal;
  /** Whether a step's error may come from values that were made up. */
  readonly isUnsure: (code: string, stepId: string) => boolean;
}): Promise<Walk> {
  const { engine, owner, sessionId, clock, enough, isUnsure } = parts;
  const waits: DryWait[] = [];
  const problems: DryProblem[] = [];
  const deadlineMs = clock.monotonic() + MAX_DRY_MS;
  for (;;) {
    const timeoutMs = Math.max(1, deadlineMs - clock.monotonic());
    const core = await engine.settled({ owner, sessionId, timeoutMs, signal: enough });
    const isCompleted = core.status === "completed";
    const stopped = isCompleted ? undefined : reasonToStop();
    const [wait] = core.waiting;
    if (stopped !== undefined || isCompleted || wait === undefined) return { waits, problems, stopped, isCompleted };
    const { path, stepId, message, inputSchema, error } = wait;
    if (error !== undefined) {
      problems.push({ path, stepId, error, unsure: isUnsure(error.code, stepId) });
      await engine.resume({ owner, sessionId, step: path, input: { action: "skip" } });
      continue;
    }
    const sample = inputSchema === undefined ? { value: null } : await sampleValue(inputSchema);
    if (sample === undefined) {
      const why = `No answer could be made up for "${path}"; put one under "examples" in its inputSchema.`;
      return { waits, problems, stopped: why, isCompleted };
    }
    waits.push({ path, stepId, message, answer: sample.value });
    await engine.resume({ owner, sessionId, step: path, input: sample.value });
  }

  function reasonToStop(): string | undefined {
    const round = "with made-up values this plan may go round without end.";
    if (enough.aborted) return `More than ${String(MAX_DRY_CALLS)} calls; ${round}`;
    if (waits.length + problems.length >= MAX_DRY_WAITS)
      return `${String(MAX_DRY_WAITS)} questions and failed steps; ${round}`;
    if (clock.monotonic() >= deadlineMs) return `No end within ${String(MAX_DRY_MS / 1_000)} seconds; ${round}`;
    return undefined;
  }
}

function report(
  plan: AgenticPlan,
  found: {
    readonly calls: readonly DryCall[];
    readonly walk: Walk;
    readonly unknownOutputs: string[];
    readonly response: Json | undefined;
  },
): DryRunReport {
  const { calls, response, unknownOutputs } = found;
  const { waits, problems, stopped, isCompleted } = found.walk;
  const seen = new Set([...calls, ...waits, ...problems].map(({ stepId }) => stepId));
  const steps = [...indexPlan(plan).steps.values()];
  const notReached = steps
    .filter(({ id, type }) => (type === "tool_call" || type === "human_in_the_loop") && !seen.has(id))
    .map(({ id }) => id);
  const answers = isCompleted && response !== undefined && steps.some(({ type }) => type === "final_response");
  return {
    dryRun: true,
    planId: plan.planId,
    ok: problems.every(({ unsure }) => unsure) && stopped === undefined,
    calls: [...calls],
    waits: [...waits],
    problems: [...problems],
    notReached,
    unknownOutputs,
    energyUnits: Math.round(calls.reduce((sum, { energyUnits }) => sum + energyUnits, 0) * 1e6) / 1e6,
    ...(stopped === undefined ? {} : { stopped }),
    ...(answers ? { finalResponse: response } : {}),
  };
}
