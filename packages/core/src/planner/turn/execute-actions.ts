import { planError } from "../../errors/plan.ts";
import type { ErgonError } from "../../errors/ergon-error.ts";
import { isErgonError } from "../../errors/ergon-error.ts";
import { gateError } from "../../errors/gate.ts";
import type { JournalRow, StateStore } from "../../ports/state-store.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import type { ActionResult } from "../../schema/mcp-loop.ts";
import type { PlanProblem } from "../../schema/plan.ts";
import type { Mode, SessionCore } from "../../schema/session.ts";
import type { EmbeddedEngine } from "../../plans/engine/engine.ts";
import { afterPrefix, encodePart } from "../../plans/position.ts";
import { ownFailure } from "../../tools/gate/own-failure.ts";
import type { CompiledActions } from "../compile-actions.ts";
import type { LoopTrace } from "./trace.ts";

/** Where the plans of a loop run. */
export type RunPlace = { readonly engine: EmbeddedEngine; readonly store: StateStore };

export type ExecutedActions = {
  readonly core: SessionCore;
  readonly results: readonly ActionResult[];
};

/** Spec 1's third step: the plan runs on the engine like any other, and its journal says what came of each action. */
export async function executeActions(parts: {
  readonly place: RunPlace;
  readonly owner: string;
  readonly sessionId: string;
  readonly mode: Mode;
  readonly context: JsonObject;
  readonly compiled: CompiledActions;
  readonly trace: LoopTrace;
  readonly signal: AbortSignal | undefined;
}): Promise<ExecutedActions> {
  const { place, owner, sessionId, mode, context, compiled, trace, signal } = parts;
  const { engine, store } = place;
  const { watchModel } = trace;
  const ref = { owner, sessionId };
  const started = await engine
    .executePlan({ ...ref, plan: compiled.plan, create: true, mode, context, isAwaited: true, watchModel })
    .catch((thrown: unknown) => {
      throw argumentsRefused(thrown, compiled) ?? thrown;
    });
  let core = await engine.settled(signal === undefined ? ref : { ...ref, signal });
  if (core.status === "running" && signal?.aborted === true) core = await engine.cancel(ref);
  const ran = await readActionResults(store, { sessionId, run: started.run, compiled });
  const results = ran.map(({ stepId, action, row, result }) => {
    trace.step({
      stepId,
      tool: action.tool,
      success: result.success,
      startedAt: row.startedAt,
      ms: row.finishedAt === undefined ? 0 : Date.parse(row.finishedAt) - Date.parse(row.startedAt),
      energyUnits: row.energyUnits,
      ...(result.error === undefined ? {} : { error: result.error }),
      ...(result.reused === undefined ? {} : { reused: result.reused }),
    });
    return result;
  });
  return { core, results };
}

/** What the journal says of each action of a run that has begun, in order. */
export async function readActionResults(
  store: Pick<StateStore, "readJournal">,
  ran: { readonly sessionId: string; readonly run: number; readonly compiled: CompiledActions },
): Promise<
  readonly (CompiledActions["steps"][number] & { readonly row: JournalRow; readonly result: ActionResult })[]
> {
  const { sessionId, run, compiled } = ran;
  const prefix = encodePart(run);
  const rows = await store.readJournal({
    sessionId,
    ranges: [{ from: prefix, to: afterPrefix(prefix) }],
    order: "oldest",
    limit: Math.max(1, compiled.steps.length),
  });
  const byStep = new Map(rows.map((row) => [row.stepId, row]));
  return compiled.steps.flatMap(({ stepId, action }) => {
    const row = byStep.get(stepId);
    return row === undefined ? [] : [{ stepId, action, row, result: resultOf(action.tool, row) }];
  });
}

function resultOf(tool: string, { request: input, result }: JournalRow): ActionResult {
  const failed = (error: string, code: string, output: Json = null): ActionResult => ({
    tool,
    input,
    output,
    success: false,
    error,
    code,
  });
  if (result === undefined) return failed("It was started, and its result is not known yet.", "outcome_unknown");
  if ("error" in result) return failed(result.error.message, result.error.code);
  const { output } = result;
  const refused = ownFailure(output);
  if (refused !== undefined) return failed(refused.message, refused.code, output);
  return { tool, input, output, success: true, ...(result.reused === undefined ? {} : { reused: true }) };
}

const ARGUMENT_CODES = new Set(["missing_argument", "unknown_argument", "argument_invalid", "type_mismatch"]);

/** What preflight says of arguments, as the gate would have said it: by tool, with every issue. */
export function argumentsRefused(thrown: unknown, { steps }: CompiledActions): ErgonError | undefined {
  if (!isErgonError(thrown) || thrown.code !== "plan_invalid") return undefined;
  const problems = (thrown.details?.["problems"] ?? []) as readonly PlanProblem[];
  const errors = problems.filter(({ severity }) => severity === "error");
  const issues = errors.flatMap((problem) => {
    const at = /^\$\.steps\[(\d+)\]\.arguments(.*)$/.exec(problem.path);
    const action = steps[Number(at?.[1])]?.action;
    if (action === undefined || !ARGUMENT_CODES.has(problem.code)) return [];
    return [{ toolId: action.tool, path: `${at?.[2] ?? ""}`, code: problem.code, message: problem.message }];
  });
  if (issues.length === 0) return planError("plan_invalid", thrown.message, { details: { problems } });
  const tools = [...new Set(issues.map(({ toolId }) => toolId))];
  const listed = tools.map((tool) => {
    const own = issues.filter(({ toolId }) => toolId === tool);
    return `Invalid args for ${tool}: ${own.map(({ path, message }) => `${path.slice(1)}: ${message}`).join(" ")}`;
  });
  return gateError("args_invalid", listed.join("\n"), { details: { toolId: tools[0], issues }, cause: thrown });
}
