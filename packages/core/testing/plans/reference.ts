/**
 * The plan semantics of the public contract, as plainly as they can be run: one step after the other, whole documents,
 * nothing saved, nothing concurrent. Slow on purpose. It is the oracle for the real interpreter and shares no code
 * with it but the plan's schema.
 */
import type { Json, JsonObject } from "../../src/schema/values/json.ts";
import type {
  AgenticPlan,
  LoopOverItemsStep,
  ParallelBranchStep,
  PlanStep,
  ToolCallStep,
} from "../../src/schema/plan.ts";
import { evaluate, holds, interpolate, resolve, StepFailure, type Document } from "./reference-values.ts";
import type { CallAnswer, Position, World } from "./world.ts";

export type ReferenceEntry = {
  readonly toolId: string;
  readonly request: JsonObject;
  readonly result: CallAnswer;
  readonly planStepId: string;
};
type Asked = { readonly position: Position; readonly stepId: string; readonly message: string };
export type ReferenceRun = {
  readonly context: JsonObject;
  /** Oldest first, without timestamps. */
  readonly history: readonly ReferenceEntry[];
  readonly completed: true;
  readonly visits: number;
  /** What each visit of a human step asked, in the reference's own order. */
  readonly asked: readonly Asked[];
};

export const MAX_REFERENCE_VISITS = 20_000;

export function runReference(
  plan: AgenticPlan,
  input: Json,
  world: World,
  initialContext: JsonObject = {},
): ReferenceRun {
  const run: Run = { input, world, visits: 0, asked: [] };
  const scope = openScope(initialContext, []);
  runList(run, { steps: plan.steps, startStepId: plan.startStepId, position: [1], scope });
  return { context: scope.context, history: scope.ownHistory, completed: true, visits: run.visits, asked: run.asked };
}

type Run = { readonly input: Json; readonly world: World; visits: number; readonly asked: Asked[] };
type List = {
  readonly steps: readonly PlanStep[];
  readonly startStepId: string | undefined;
  readonly position: Position;
  readonly scope: Scope;
};

/** What a list of steps sees (`context`, `history`) and what it wrote itself since it began. */
type Scope = {
  context: JsonObject;
  history: readonly ReferenceEntry[];
  ownHistory: readonly ReferenceEntry[];
  /** By `saveAs`. */
  readonly explicit: Map<string, Json>;
  /** `<toolId>_result` and `human_input`. */
  readonly implicit: Map<string, Json>;
};

function openScope(context: JsonObject, history: readonly ReferenceEntry[]): Scope {
  return { context, history, ownHistory: [], explicit: new Map(), implicit: new Map() };
}

function runList(run: Run, list: List): void {
  let slot = 0;
  let nextStepId = list.startStepId;
  while (nextStepId !== undefined) {
    const step = list.steps.find((each) => each.id === nextStepId);
    if (step === undefined) throw new Error(`no step ${nextStepId} in its list`);
    run.visits += 1;
    if (run.visits > MAX_REFERENCE_VISITS)
      throw new Error(`the plan did not end in ${String(MAX_REFERENCE_VISITS)} visits`);
    nextStepId = visit(run, step, [...list.position, slot], list.scope);
    slot += 1;
  }
}

/** Returns the step that comes next; a person's retry is simply the same step once more. */
function visit(run: Run, step: PlanStep, position: Position, scope: Scope): string | undefined {
  try {
    return perform(run, step, position, scope);
  } catch (error) {
    if (!(error instanceof StepFailure)) throw error;
    return run.world.decide({ position, stepId: step.id }).action === "retry" ? step.id : afterSkip(step);
  }
}

function perform(run: Run, step: PlanStep, position: Position, scope: Scope): string | undefined {
  const document = { context: scope.context, history: scope.history.toReversed(), promptInput: run.input };
  switch (step.type) {
    case "tool_call":
      callTool(run, step, { position, scope, document });
      return step.nextStepId;
    case "conditional_branch":
      return (holds(step.condition, document) ? step.onTrue : step.onFalse).nextStepId;
    case "parallel_branch":
      runBranches(run, step, position, scope);
      return step.nextStepId;
    case "loop_over_items":
      runTurns(run, step, { position, scope, document });
      return step.nextStepId;
    case "human_in_the_loop": {
      run.asked.push({ position, stepId: step.id, message: interpolate(step.message, document) });
      const answer = run.world.answer({ position, stepId: step.id });
      writeImplicit(scope, "human_input", answer);
      if (step.saveAs !== undefined) writeExplicit(scope, step.saveAs, answer);
      return step.nextStepIdOnInput;
    }
    case "final_response": {
      const { message } = step;
      const value = typeof message === "string" ? interpolate(message, document) : resolve(message, document);
      writeExplicit(scope, "finalResponse", value);
      return undefined;
    }
  }
}

function afterSkip(step: PlanStep): string | undefined {
  switch (step.type) {
    case "tool_call":
    case "parallel_branch":
    case "loop_over_items":
      return step.nextStepId;
    case "conditional_branch":
      return step.onFalse.nextStepId;
    case "human_in_the_loop":
      return step.nextStepIdOnInput;
    case "final_response":
      return undefined;
  }
}

type Visit = { readonly position: Position; readonly scope: Scope; readonly document: Document };

function callTool(run: Run, step: ToolCallStep, { position, scope, document }: Visit): void {
  const { id: stepId, toolId } = step;
  const args = Object.fromEntries(
    Object.entries(step.arguments ?? {}).map(([name, value]) => [name, evaluate(value, document)]),
  );
  const maxAttempts = step.retry?.maxAttempts ?? 1;
  let attempt = 1;
  let result = run.world.call({ position, stepId, toolId, args, attempt });
  while ("error" in result && result.error.retryable && attempt < maxAttempts) {
    attempt += 1;
    result = run.world.call({ position, stepId, toolId, args, attempt });
  }
  appendHistory(scope, [{ toolId, request: args, result, planStepId: stepId }]);
  if ("error" in result) throw new StepFailure(result.error.code, result.error.message);
  writeImplicit(scope, `${toolId}_result`, result.output);
  if (step.saveAs !== undefined) writeExplicit(scope, step.saveAs, result.output);
}

function runBranches(run: Run, step: ParallelBranchStep, position: Position, scope: Scope): void {
  const branches = step.branches.map(({ steps }, index) => {
    const branch = openScope(scope.context, scope.history);
    runList(run, { steps, startStepId: steps[0]?.id, position: [...position, index], scope: branch });
    return branch;
  });
  joinImplicit(scope, branches);
  for (const branch of branches) for (const [key, value] of branch.explicit) writeExplicit(scope, key, value);
}

function runTurns(run: Run, step: LoopOverItemsStep, { position, scope, document }: Visit): void {
  const items = resolve(step.collectionPath, document);
  if (!Array.isArray(items)) throw new StepFailure("not_iterable", `${step.collectionPath.jsonPath} is not an array`);
  const turns = items.map((item: Json, index) => {
    const aliases = { [step.itemAlias]: item, [`${step.itemAlias}_index`]: index };
    const turn = openScope({ ...scope.context, ...aliases }, scope.history);
    const startStepId = step.loopPlan[0]?.id;
    runList(run, { steps: step.loopPlan, startStepId, position: [...position, index], scope: turn });
    return turn;
  });
  joinImplicit(scope, turns);
  for (const key of savedKeys(step.loopPlan)) {
    writeExplicit(
      scope,
      key,
      turns.map((turn) => turn.explicit.get(key) ?? null),
    );
  }
}

/** History appends in order; of implicit keys the last child that wrote one wins. */
function joinImplicit(scope: Scope, children: readonly Scope[]): void {
  for (const child of children) {
    appendHistory(scope, child.ownHistory);
    for (const [key, value] of child.implicit) writeImplicit(scope, key, value);
  }
}

/** Every key that `saveAs` can write in these steps, nested ones included. */
function savedKeys(steps: readonly PlanStep[]): Set<string> {
  const keys = new Set<string>();
  for (const step of steps) {
    if ("saveAs" in step && step.saveAs !== undefined) keys.add(step.saveAs);
    if (step.type === "loop_over_items") for (const key of savedKeys(step.loopPlan)) keys.add(key);
    if (step.type !== "parallel_branch") continue;
    for (const branch of step.branches) for (const key of savedKeys(branch.steps)) keys.add(key);
  }
  return keys;
}

function writeExplicit(scope: Scope, key: string, value: Json): void {
  scope.explicit.set(key, value);
  scope.context = { ...scope.context, [key]: value };
}

function writeImplicit(scope: Scope, key: string, value: Json): void {
  scope.implicit.set(key, value);
  scope.context = { ...scope.context, [key]: value };
}

function appendHistory(scope: Scope, entries: readonly ReferenceEntry[]): void {
  scope.history = [...scope.history, ...entries];
  scope.ownHistory = [...scope.ownHistory, ...entries];
}
