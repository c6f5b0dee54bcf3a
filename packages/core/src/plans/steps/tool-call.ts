import type { ContextWrite } from "../../ports/state-store.ts";
import type { ErrorRecord } from "../../schema/error.ts";
import type { JsonObject } from "../../schema/values/json.ts";
import type { ToolCallStep } from "../../schema/plan.ts";
import { MAX_QUESTIONS, Question } from "../../schema/question.ts";
import type { Due } from "../cursor.ts";
import type { Visit } from "../visits.ts";
import { refusalOf } from "../refusal.ts";
import type { Completion, Effect, Move, Out, StepKind } from "../transition.ts";
import { amended, at, failMove, noList, settleFailure } from "./simple-step.ts";

/** Waits between automatic attempts double, up to this. */
export const MAX_BACKOFF_MS = 3_600_000;

/** The gate found another tool than the one that it had checked. */
export const TOOL_CHANGED = "tool_changed";
const INPUT_REQUIRED = "input_required";

export function resultKey(toolId: string): string {
  return `${toolId}_result`;
}

/** Where a call that failed and was passed over (`onError: "continue"`) leaves its error, by its `saveAs` or tool. */
export function errorKey(place: string): string {
  return `${place}_error`;
}

/**
 * ready → call → next, with `backoff` between automatic attempts (same position, same idempotency key), `approval`
 * while a person must allow it, and `error` once it has failed for good.
 */
export function toolCall(step: ToolCallStep): StepKind {
  return {
    begin: (visit, out) => {
      const { state } = visit.frame;
      out.effects.push(state.kind === "backoff" ? sleepEffect(visit, state) : checkEffect(visit));
      return { to: "state", state };
    },
    complete: (visit, completion, out) => complete(step, visit, completion, out),
    owed: (visit) => owed(visit),
    concurrency: 0,
    firstStepId: noList,
  };
}

function complete(step: ToolCallStep, visit: Visit, completion: Completion, out: Out): Move | undefined {
  const { state } = visit.frame;
  switch (completion.kind) {
    case "checked":
      if (state.kind !== "ready") return undefined;
      return completion.answer === "allowed" ? call(visit, 1, out) : waitForApproval(visit, completion, out);
    case "called":
      if (state.kind !== "call") return undefined;
      if (!completion.ok && completion.error.code === TOOL_CHANGED) return checkAnew(visit);
      if (!completion.ok && completion.error.code === INPUT_REQUIRED)
        return waitForAnswer(step, visit, completion, out);
      return completion.ok ? succeed(step, visit, out) : retryOrFail(step, visit, state.attempt, completion, out);
    case "woke":
      if (state.kind !== "backoff") return undefined;
      return state.attempt === 0 ? check(visit, out) : call(visit, state.attempt + 1, out);
    case "approval":
      if (state.kind !== "approval" || state.approvalId !== completion.approvalId) return undefined;
      return decideApproval(step, visit, completion, out);
    case "decided":
      if (completion.decision.action === "happened") {
        // The outcome was unknown and a person knows it: the call has its result after all.
        return state.kind === "error" ? succeed(step, visit, out) : undefined;
      }
      return settleFailure(visit, completion, step.nextStepId);
    case "failed":
      return state.kind === "ready"
        ? failFor(step, visit, completion, out)
        : settleFailure(visit, completion, step.nextStepId);
    case "proposed":
    case "reviewed":
    case "escalated":
      return settleFailure(visit, completion, step.nextStepId);
    case "answered":
      return callWithAnswer(visit, completion, out);
    case "evaluated":
    case "joined":
      return undefined;
  }
}

function checkEffect(visit: Visit): Effect {
  return { kind: "check", ...at(visit), ...amended(visit), ...askedAbout(visit) };
}

function sleepEffect(visit: Visit, { untilMs, forMs }: Due): Effect {
  return { kind: "sleep", ...at(visit), untilMs, ...(forMs === undefined ? {} : { forMs }) };
}

function check(visit: Visit, out: Out): Move {
  out.effects.push(checkEffect(visit));
  return { to: "state", state: { kind: "ready", ...amended(visit), ...askedAbout(visit) } };
}

/** The arguments that a person was asked about stay what they were. */
function askedAbout({ frame: { state } }: Visit): { readonly args?: JsonObject } {
  if ((state.kind !== "ready" && state.kind !== "approval") || state.args === undefined) return {};
  return { args: state.args };
}

/** What is looked at once the wait is written: somebody may have answered while it was not. */
function waitForApproval(visit: Visit, completion: Asked, out: Out): Move {
  const { message, approvalId, args, atMs } = completion;
  out.effects.push({ kind: "look", ...at(visit), approvalId });
  const kept = { ...amended(visit), ...(args === undefined ? {} : { args }) };
  return { to: "state", state: { kind: "approval", sinceMs: atMs, message, approvalId, ...kept } };
}

type Asked = Extract<Completion, { kind: "checked"; answer: "needs_approval" }>;

/** The tool has to know something first; it is called again with what a person says. */
function waitForAnswer(step: ToolCallStep, visit: Visit, completion: CallFailed, out: Out): Move {
  const { state } = visit.frame;
  const { error, atMs } = completion;
  const { success, data: question } = Question.safeParse(error.details);
  const { amendment } = amended(visit);
  const isOver = (amendment?.answers?.length ?? 0) >= MAX_QUESTIONS;
  if (!success || isOver || state.kind !== "call") return failFor(step, visit, completion, out);
  const asked = { question, attempt: state.attempt };
  return { to: "state", state: { kind: "human", sinceMs: atMs, message: error.message, asked, ...amended(visit) } };
}

function callWithAnswer(
  visit: Visit,
  { input }: Extract<Completion, { kind: "answered" }>,
  out: Out,
): Move | undefined {
  const { state } = visit.frame;
  if (state.kind !== "human" || state.asked === undefined) return undefined;
  const { question, attempt } = state.asked;
  const answers = [...(state.amendment?.answers ?? []), { key: question.key, input }];
  return call(visit, attempt + 1, out, { amendment: { ...state.amendment, answers } });
}

type CallFailed = Extract<Completion, { kind: "called"; ok: false }>;

/** Nothing was called: the tool is another by now, and so is the question whether it may be. */
function checkAnew(visit: Visit): Move {
  const { amendment } = amended(visit);
  return {
    to: "again",
    state: { kind: "ready", amendment: { ...amendment, keyPosition: amendment?.keyPosition ?? visit.position } },
  };
}

function call(visit: Visit, attempt: number, out: Out, changes = amended(visit)): Move {
  out.effects.push({ kind: "invoke", ...at(visit), attempt, ...changes });
  return { to: "state", state: { kind: "call", attempt, ...changes } };
}

/** Context refers to the output by its position in the journal; the value is stored once. */
function succeed(step: ToolCallStep, visit: Visit, out: Out): Move {
  out.writes.push(...resultWrites(step, visit.place.scope, visit.position));
  return { to: "next", stepId: step.nextStepId };
}

export function resultWrites(step: ToolCallStep, scope: string, position: string): ContextWrite[] {
  const value = { kind: "output", position } as const;
  const byItself: ContextWrite = { scope, key: resultKey(step.toolId), implicit: true, value };
  return step.saveAs === undefined ? [byItself] : [byItself, { scope, key: step.saveAs, value }];
}

function retryOrFail(step: ToolCallStep, visit: Visit, attempt: number, completion: CallFailed, out: Out): Move {
  const { error, atMs } = completion;
  if (!error.retryable || attempt >= (step.retry?.maxAttempts ?? 1)) return failFor(step, visit, completion, out);
  const forMs = backoffMs(step.retry?.backoffMs ?? 0, attempt);
  const due = { untilMs: atMs + forMs, forMs };
  out.effects.push(sleepEffect(visit, due));
  return { to: "state", state: { kind: "backoff", attempt, ...due, ...amended(visit) } };
}

/** What the plan says of a call that has failed for good. */
function failFor(
  step: ToolCallStep,
  visit: Visit,
  { error, atMs }: { readonly error: ErrorRecord; readonly atMs: number },
  out: Out,
): Move {
  if (waitsOn(step, error)) return failMove(visit, error, atMs);
  if (step.onError === "continue" && error.code !== "args_invalid") {
    const value = { kind: "inline", value: { code: error.code, message: error.message } } as const;
    out.writes.push({ scope: visit.place.scope, key: errorKey(step.saveAs ?? step.toolId), implicit: true, value });
    return { to: "next", stepId: step.nextStepId };
  }
  return { to: "end", end: { status: "failed", error } };
}

/** Whether the run waits for somebody to see to the failure. What nobody knows of is never the end of a run. */
export function waitsOn({ onError = "pause" }: ToolCallStep, { code }: Pick<ErrorRecord, "code">): boolean {
  return onError === "pause" || (onError === "fail" && code === "outcome_unknown");
}

function backoffMs(base: number, attempt: number): number {
  return Math.min(base * 2 ** Math.min(attempt - 1, 40), Math.max(base, MAX_BACKOFF_MS));
}

function decideApproval(
  step: ToolCallStep,
  visit: Visit,
  completion: Extract<Completion, { kind: "approval" }>,
  out: Out,
): Move {
  // Checked again: what was approved may have changed since, and then it is another question.
  if (completion.state === "approved" || completion.state === "lost") return check(visit, out);
  return failFor(step, visit, { error: refusalOf(completion), atMs: completion.atMs }, out);
}

function owed(visit: Visit): Effect | undefined {
  const { state } = visit.frame;
  switch (state.kind) {
    case "ready":
      return checkEffect(visit);
    case "call":
      return { kind: "invoke", ...at(visit), attempt: state.attempt, ...amended(visit) };
    case "backoff":
      return sleepEffect(visit, state);
    case "approval":
      return { kind: "look", ...at(visit), approvalId: state.approvalId };
    case "human":
    case "error":
    case "spread":
      return undefined;
  }
}
