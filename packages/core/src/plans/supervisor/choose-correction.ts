/*
 * Which correction to propose for a failed step, if any: the first of the strategies that fits. Reads, asks the gate, and
 * changes nothing.
 *
 * Every step has few corrections, so one is kept for each way out that is still open: each alternative that was not tried
 * yet, and skipping. The step's own tool is retried or repaired only with those that are left over.
 */
import type { ArgumentRepairer } from "../../ports/argument-repairer.ts";
import { INLINE_LIMIT_BYTES } from "../../schema/blob.ts";
import type { CorrectedCall, Correction, CorrectionStrategy, PlanChange } from "../../schema/correction.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { ToolCallStep } from "../../schema/plan.ts";
import type { Tool } from "../../tools/tool.ts";
import type { FailedCall, Failure } from "../engine/corrections.ts";
import { jsonEqual } from "../pointer/json-equal.ts";
import { argumentChanges, removed, replaced, stepLocation } from "./plan-diff.ts";

/** A step with many alternatives has more: one for its own tool and one for each way out. */
export const MAX_CORRECTIONS_PER_STEP = 3;
/** The first retry waits so long, each later one four times as long as the one before; there are few. */
export const FIRST_RETRY_MS = 200;
const RETRY_FACTOR = 4;

export type Choice =
  | {
      readonly kind: "correction";
      readonly strategy: CorrectionStrategy;
      readonly summary: string;
      readonly diff: PlanChange[];
      readonly call: CorrectedCall;
    }
  | { readonly kind: "person"; readonly reason: string };

export type ChoiceDeps = {
  readonly toolOf: (toolId: string) => Tool | undefined;
  /** Asked in order; the first whose arguments the gate takes is followed. */
  readonly repairers: readonly ArgumentRepairer[];
  readonly sessionBudget: number;
  readonly signal: AbortSignal;
};

export async function chooseCorrection(
  failure: Failure,
  past: readonly Correction[],
  deps: ChoiceDeps,
): Promise<Choice> {
  const { step, error } = failure;
  if (error.code === "outcome_unknown") return person("Nobody knows whether the call took effect.");
  if (step.type !== "tool_call") return person("Only tool calls can be corrected.");
  const mine = past.filter(({ path, run }) => path === failure.path && run === failure.run);
  const most = correctionsFor(step);
  if (mine.length >= most) return person(`The step has had ${String(most)} corrections.`);
  if (past.length >= deps.sessionBudget)
    return person(`The session has had ${String(deps.sessionBudget)} corrections, all that it may have.`);
  const asked: Asked = { failure, step, mine, deps, left: most - mine.length };
  return (
    retry(asked) ??
    (await repairArguments(asked)) ??
    (await useAlternative(asked)) ??
    skip(asked) ??
    person("No correction fits.")
  );
}

type Asked = {
  readonly failure: Failure;
  readonly step: ToolCallStep;
  readonly mine: readonly Correction[];
  readonly deps: ChoiceDeps;
  /** Corrections that this step may still have. */
  readonly left: number;
};

type Chosen = Extract<Choice, { kind: "correction" }> | undefined;

function retry(asked: Asked): Chosen {
  const { failure, step, mine } = asked;
  const { error, call } = failure;
  if (!error.retryable || call === undefined || !isSpare(asked)) return undefined;
  const before = mine.filter(({ strategy }) => strategy === "retry").length;
  const delayMs = FIRST_RETRY_MS * RETRY_FACTOR ** before;
  const policy = { maxAttempts: (step.retry?.maxAttempts ?? 1) + before + 1, backoffMs: delayMs };
  return {
    kind: "correction",
    strategy: "retry",
    summary: `Try "${step.id}" once more in ${String(delayMs)} ms: ${brief(error.message)}`,
    diff: [replaced([...at(asked), "retry"], step.retry as Json | undefined, policy)],
    call: { action: "retry", sameKey: true, delayMs },
  };
}

/** Where nothing was sent, or nothing that could do harm twice. */
async function repairArguments(asked: Asked): Promise<Chosen> {
  const { failure, step, deps } = asked;
  const { error, call } = failure;
  const tool = call === undefined ? undefined : deps.toolOf(call.toolId);
  if (call === undefined || tool === undefined || !isSpare(asked)) return undefined;
  const mayRepair = error.code === "args_invalid" || (error.code === "tool_failed" && tool.effects !== "once");
  if (!mayRepair) return undefined;
  const repaired = await fittingArguments(asked, call, tool);
  if (repaired === undefined || jsonEqual(repaired, call.args)) return undefined;
  const diff = argumentChanges([...at(asked), "arguments"], call.args, repaired);
  return {
    kind: "correction",
    strategy: "repair_arguments",
    summary: `Call "${tool.id}" with repaired arguments: ${brief(diff.map(describe).join(", "))}`,
    diff,
    call: { action: "retry", arguments: repaired },
  };
  function describe({ op, path, from, value }: PlanChange): string {
    const name = path.slice(path.indexOf("/arguments/") + "/arguments/".length) || step.id;
    if (op === "remove") return `without ${name}`;
    return `${name} ${from === undefined ? "" : `${JSON.stringify(from)} → `}${JSON.stringify(value)}`;
  }
}

async function useAlternative(asked: Asked): Promise<Chosen> {
  const { failure, step, left, deps } = asked;
  const { call, error } = failure;
  if (call === undefined || left <= skips(step) || PERSONS_WORD.has(error.code)) return undefined;
  for (const toolId of untried(asked)) {
    const tool = deps.toolOf(toolId);
    if (tool === undefined) continue;
    const isFitting = (await call.check(toolId, call.args)).kind !== "denied";
    const args = isFitting ? call.args : await fittingArguments(asked, call, tool);
    if (args === undefined) continue;
    const changes = jsonEqual(args, call.args) ? [] : argumentChanges([...at(asked), "arguments"], call.args, args);
    return {
      kind: "correction",
      strategy: "alternative_tool",
      summary: `Call "${toolId}" instead of "${call.toolId}": ${brief(error.message)}`,
      diff: [replaced([...at(asked), "toolId"], call.toolId, toolId), ...changes],
      call: { action: "retry", toolId, ...(changes.length === 0 ? {} : { arguments: args }) },
    };
  }
  return undefined;
}

function skip(asked: Asked): Chosen {
  const { failure, step } = asked;
  if (step.optional !== true) return undefined;
  return {
    kind: "correction",
    strategy: "skip",
    summary: `Go on without "${step.id}", which is optional: ${brief(failure.error.message)}`,
    diff: [removed(at(asked), step as unknown as Json)],
    call: { action: "skip" },
  };
}

/** A person, or the session's budget, has said no to the work itself: another tool would go round that. */
const PERSONS_WORD: ReadonlySet<string> = new Set(["approval_denied", "approval_expired", "energy_exhausted"]);

/** Arguments that a repairer found, that the tool takes, and that are small enough to stand in the cursor. */
async function fittingArguments(
  { failure, deps }: Asked,
  call: FailedCall,
  tool: Tool,
): Promise<JsonObject | undefined> {
  const { id: toolId, description, parameters } = tool;
  for (const repairer of deps.repairers) {
    const request = { toolId, description, parameters, args: call.args, error: failure.error, signal: deps.signal };
    const repaired = await repairer.repair(request);
    if (repaired === undefined || JSON.stringify(repaired).length > INLINE_LIMIT_BYTES) continue;
    if ((await call.check(toolId, repaired)).kind !== "denied") return repaired;
  }
  return undefined;
}

function correctionsFor(step: ToolCallStep): number {
  const others = new Set(step.alternatives ?? []);
  others.delete(step.toolId);
  return Math.max(MAX_CORRECTIONS_PER_STEP, 1 + others.size + skips(step));
}

/** Whether a correction of the step's own call leaves enough for every way out. */
function isSpare(asked: Asked): boolean {
  return asked.left > untried(asked).length + skips(asked.step);
}

function skips({ optional }: ToolCallStep): number {
  return optional === true ? 1 : 0;
}

function untried({ step, failure, mine }: Asked): readonly string[] {
  const tried = new Set([step.toolId, failure.call?.toolId, ...mine.map(({ call }) => call.toolId)]);
  return [...new Set(step.alternatives)].filter((toolId) => !tried.has(toolId));
}

function at({ failure }: Asked): readonly (string | number)[] {
  return stepLocation(failure.plan, failure.step.id);
}

function person(reason: string): Choice {
  return { kind: "person", reason };
}

const MAX_BRIEF = 300;
function brief(text: string): string {
  return text.length <= MAX_BRIEF ? text : `${text.slice(0, MAX_BRIEF - 1)}…`;
}
