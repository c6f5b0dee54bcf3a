import { ErgonError, toErgonError } from "../../errors/ergon-error.ts";
import { plannerError } from "../../errors/planner.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Json, JsonObject } from "../../schema/values/json.ts";
import { redactJson } from "../../schema/values/redact.ts";
import type { ActionResult, MCPResponse, MCPResponseData, PlannedAction } from "../../schema/mcp-loop.ts";
import { errorKey, resultKey } from "../../plans/steps/tool-call.ts";
import { isForRole } from "../../tools/known-tools.ts";
import type { Tool } from "../../tools/tool.ts";
import { arrangeActions, type Arranged } from "../arrange-actions.ts";
import type { ChosenPlanner } from "../choose-planner.ts";
import { callerPlanner, planningPrompt } from "../caller-plan.ts";
import { compileActions, FINALIZE_TOOL, resultPlaces } from "../compile-actions.ts";
import { describeResult } from "./describe-result.ts";
import { executeActions, type ExecutedActions } from "./execute-actions.ts";
import { composeSummary, type Found, PLANNED_TOOLS_KEY } from "./finalize-summary.ts";
import type { OfferTools } from "../llm/offer-tools.ts";
import { loadContext, type LoadedContext } from "./load-context.ts";
import { errorOf, isOver, noneSucceeded, outcomeOf, wasCancelled } from "./outcome.ts";
import type { PlannerAnswer, PlannerInput } from "../planner.ts";
import { MAX_ACTIONS, readPlan } from "../read-plan.ts";
import type { ReadRequest } from "../read-request.ts";
import { createTrace, type LoopTrace, type Warning } from "./trace.ts";
import { createTurnMemory, type TurnMemoryParts } from "./turn-memory.ts";
import { openSession, type SessionParts, type TurnSession } from "./turn-session.ts";

export type LoopParts = SessionParts &
  TurnMemoryParts & {
    readonly ids: Ids;
    readonly planner: ChosenPlanner;
    readonly offer: OfferTools;
    readonly strict: boolean;
    readonly logger: Logger;
  };

export type Caller = { readonly owner: string; readonly signal: AbortSignal | undefined };

/** A turn's answer, and what a caller that wants exceptions gets in its place. */
export type Attempt = { readonly response: MCPResponse; readonly thrown?: ErgonError };

/** One turn of a session, from its message to its answer. Throws what keeps the session from being used at all. */
export async function runTurn(parts: LoopParts, read: ReadRequest, caller: Caller): Promise<Attempt> {
  const { request } = read;
  const { sessionId, mode } = request;
  const planner = request.plan === undefined ? parts.planner : callerPlanner(request.plan);
  const trace = createTrace(parts.clock, { sessionId, mode, planner: planner.name });
  const session = await openSession(parts, request, { owner: caller.owner, added: read.added });
  try {
    session.tell("message-received", { content: read.message, mode });
    const turn = createTurn({ ...parts, planner }, read, caller, { session, trace });
    const attempt = await turn();
    const { response } = attempt;
    session.tell("response-sent", {
      success: response.success,
      ...(response.data?.summaryMessage === undefined ? {} : { summaryMessage: response.data.summaryMessage }),
      ...(response.success ? {} : { error: response.error }),
      trace: response.data?.trace ?? trace.value(),
    });
    await session.told();
    return attempt;
  } finally {
    await session.close();
  }
}

type Around = { readonly session: TurnSession; readonly trace: LoopTrace };

function createTurn(parts: LoopParts, read: ReadRequest, caller: Caller, { session, trace }: Around) {
  const { request, message } = read;
  const { sessionId, mode } = request;
  const { owner, signal } = caller;
  const strict = request.strict ?? parts.strict;
  const { embedder, memory } = parts;
  const turns = createTurnMemory(parts, { owner, sessionId, trace });

  return async (): Promise<Attempt> => {
    let answer: PlannerAnswer | undefined;
    try {
      const loaded = await trace.stage("context", async () => {
        await turns.rememberEnded(session);
        return await loadContext({ request, message, owner, embedder, memory, trace, signal });
      });
      const tools = toolsFor(session.source.list(), request);
      const input = inputFor(loaded, tools);
      if (request.planBy === "caller" && request.plan === undefined) return await handedBack(loaded, input);
      answer = await trace.stage("plan", () => plan(input));
      if (request.planBy === "either" && answer.plan.length === 0)
        return await handedBack(loaded, input, answer.question);
      const arranged = arrange(answer.plan, tools);
      const planner = answer.by ?? parts.planner.name;
      trace.set({ planner });
      session.tell("plan-made", { planner, plan: redactJson(answer.plan as unknown as Json) });
      const executed = await trace.stage("execute", () => execute(loaded, arranged, answer?.question));
      const planned = answer;
      const data = await trace.stage("finalize", () => finalize(planned, { loaded, arranged, executed }));
      const error = errorOf(executed.core) ?? noneSucceeded(data);
      if (error !== undefined) return failed(error, data);
      return { response: { success: true, data: { ...data, trace: trace.value() } } };
    } catch (thrown) {
      const known = signal?.aborted === true ? wasCancelled(sessionId, thrown) : toErgonError(thrown, "loop_failed");
      const error = known.code === "args_invalid" ? withLeftOut(known, trace.warnings()) : known;
      return failed(error, answer === undefined ? {} : { plan: [...answer.plan] });
    }
  };

  function inputFor(loaded: LoadedContext, tools: readonly Tool[]): PlannerInput {
    return {
      message,
      mode,
      sessionId,
      context: { ...session.before, ...loaded.context },
      conversation: loaded.conversation,
      tools,
      recommendations: request.plannerRecommendations ?? [],
      note: {
        modelCall: trace.modelCall,
        warning: trace.warn,
        ranking: (ids) => trace.set({ ranking: ids.slice(0, MAX_TRACED_RANKING) }),
      },
      ...(loaded.embeddedMessage === undefined ? {} : { embeddedMessage: loaded.embeddedMessage }),
      ...(signal === undefined ? {} : { signal }),
    };
  }

  /** Nothing has run and nothing is remembered: the turn is still to come, with the caller's plan. */
  async function handedBack(
    { context, conversation }: LoadedContext,
    input: PlannerInput,
    question?: string,
  ): Promise<Attempt> {
    const { embeddedMessage: _vector, ...shown } = context;
    const data = {
      context: shown,
      intermediateResults: [],
      plan: [],
      semanticMatches: [...conversation.semanticMatches] as unknown as Json[],
      ...(question === undefined ? {} : { summaryMessage: question }),
      outcome: "waiting" as const,
      planningPrompt: planningPrompt({ ...input, tools: await parts.offer(input) }),
    };
    return { response: { success: true, data: { ...data, trace: trace.value() } } };
  }

  async function plan(input: PlannerInput): Promise<PlannerAnswer> {
    const answered = await parts.planner.plan(input);
    if (signal?.aborted === true) throw wasCancelled(sessionId, undefined);
    const found = readPlan(answered);
    if (found.plan.length <= MAX_ACTIONS) return found;
    const text = `The plan had ${String(found.plan.length)} actions; the first ${String(MAX_ACTIONS)} are kept.`;
    trace.warn({ code: "plan_cut", message: text });
    return { ...found, plan: found.plan.slice(0, MAX_ACTIONS) };
  }

  function arrange(planned: readonly PlannedAction[], tools: readonly Tool[]): Arranged {
    const arranged = arrangeActions(planned, tools);
    for (const { action, reason } of arranged.unknown) {
      trace.warn({ code: "tool_unknown", message: reason });
      parts.logger.warn({ sessionId, toolId: action.tool }, `The planner named a tool that is left out. ${reason}`);
    }
    const [first] = arranged.unknown;
    if (!strict || first === undefined) return arranged;
    const reasons = arranged.unknown.map(({ reason }) => reason);
    throw plannerError("tool_unknown", `Planner returned unknown tool: ${reasons.join(" ")} Nothing was run.`, {
      details: { tools: arranged.unknown.map(({ action }) => action.tool) },
    });
  }

  async function execute(
    loaded: LoadedContext,
    { runnable }: Arranged,
    question: string | undefined,
  ): Promise<ExecutedActions> {
    const compiled = compileActions(runnable, {
      planId: parts.ids.next("loop"),
      description: message,
      onError: strict ? "fail" : "continue",
      say: question ?? "",
    });
    // What an earlier turn found with the same tool must not pass for this turn's result.
    const places = resultPlaces(runnable);
    const kept = [...runnable.map(({ tool }) => tool), ...places];
    const stale = [...kept, ...kept.map(errorKey)].filter((key) => key in session.before);
    const context = {
      ...(parts.keepsSessions ? {} : session.before),
      ...Object.fromEntries(stale.map((key) => [key, null])),
      ...loaded.context,
      [PLANNED_TOOLS_KEY]: runnable.map(({ tool }, at) => ({ tool, place: places[at] ?? "" })),
    };
    return executeActions({ place: session.place, owner, sessionId, mode, context, compiled, trace, signal });
  }

  async function finalize(
    answered: PlannerAnswer,
    { loaded, arranged, executed }: { loaded: LoadedContext; arranged: Arranged; executed: ExecutedActions },
  ): Promise<Omit<MCPResponseData, "trace">> {
    const { core } = executed;
    trace.set({ status: core.status, run: core.run, planId: core.currentPlanId ?? "" });
    const results = await Promise.all(
      executed.results.map(async (result) => ({
        ...result,
        input: await session.whole(result.input),
        output: await session.whole(result.output),
      })),
    );
    const intermediateResults = inPlannedOrder(answered.plan, results, arranged);
    const { leftOut = [], note } = answered;
    const said = summaryOf(results) ?? (answered.plan.length === 0 ? answered.question : undefined);
    const summaryMessage =
      said === undefined ? undefined : [said, ...leftOut, ...(note === undefined ? [] : [note])].join("\n");
    const outcome = outcomeOf(core, answered, intermediateResults);
    // What came of a turn that waits is remembered when it is known.
    const answer = isOver(core) ? (summaryMessage ?? composeSummary(await found(intermediateResults))) : undefined;
    await turns.remember({ message, embedding: loaded.embeddedMessage, answer });
    return {
      outcome,
      ...(outcome === "waiting" && core.waiting.length > 0 ? { waiting: [...core.waiting] } : {}),
      context: shownContext(await session.after(), arranged.runnable),
      intermediateResults,
      plan: [...answered.plan],
      semanticMatches: [...loaded.conversation.semanticMatches] as unknown as Json[],
      ...(summaryMessage === undefined ? {} : { summaryMessage }),
    };
  }

  /** What each tool found, large values read from where they are kept. */
  async function found(results: readonly ActionResult[]): Promise<Found> {
    const working = results.filter(({ tool }) => tool !== FINALIZE_TOOL);
    const findings = working
      .filter(({ success }) => success)
      .map(async ({ tool, output }) => ({ tool, text: describeResult(await session.read(output)) }));
    const failures = working.filter(({ success }) => !success);
    return {
      findings: await Promise.all(findings),
      failures: failures.map(({ tool, error = "" }) => ({ tool, text: error })),
    };
  }

  function failed(error: ErgonError, data: Partial<MCPResponseData>): Attempt {
    trace.set({ error: error.toJSON() as unknown as JsonObject });
    const { code, message } = error;
    const response = {
      success: false,
      error: message,
      code,
      data: { outcome: "failed", ...data, trace: trace.value() },
    } as const;
    return THROWN_CODES.has(error.code) ? { response, thrown: error } : { response };
  }
}

/** An error that names only what it stopped at would hide the tools that were left out before. */
function withLeftOut(error: ErgonError, warnings: readonly Warning[]): ErgonError {
  const unknown = warnings.filter(({ code }) => code === "tool_unknown").map(({ message }) => message);
  if (unknown.length === 0) return error;
  const { code, message, retryable, details, cause } = error;
  return new ErgonError(code, `${message}\n${unknown.join("\n")}`, {
    retryable,
    details: { ...details, warnings: unknown },
    cause,
  });
}

const MAX_TRACED_RANKING = 5;

/** What spec 1 throws; other failures are answers. */
const THROWN_CODES = new Set([
  "args_invalid",
  "plan_refused",
  "tool_unknown",
  "cancelled",
  "session_busy",
  "session_not_found",
]);

/** Those for the mode, among those that the caller named; the summary is always there. */
function toolsFor(tools: readonly Tool[], { mode, availableTools }: ReadRequest["request"]): readonly Tool[] {
  const named = availableTools === undefined ? undefined : new Set(availableTools);
  return tools.filter(
    (tool) => isForRole(tool, mode) && (named === undefined || named.has(tool.id) || tool.id === FINALIZE_TOOL),
  );
}

/** What ran and what was left out, as the planner had ordered them; the summary comes last as it ran last. */
function inPlannedOrder(
  planned: readonly PlannedAction[],
  results: readonly ActionResult[],
  { runnable, unknown }: Arranged,
): ActionResult[] {
  const left = new Map(unknown.map(({ action, reason }) => [action, reason]));
  const ran = new Map(runnable.map((action, at) => [action, results[at]]));
  const ordered = [...planned.filter(({ tool }) => tool !== FINALIZE_TOOL), ...runnable.filter(isFinalize)];
  return ordered.flatMap((action): ActionResult[] => {
    const error = left.get(action);
    if (error !== undefined) return [{ tool: action.tool, input: action.args, output: null, success: false, error }];
    const result = ran.get(action);
    return result === undefined ? [] : [result];
  });
}

function isFinalize({ tool }: PlannedAction): boolean {
  return tool === FINALIZE_TOOL;
}

function summaryOf(results: readonly ActionResult[]): string | undefined {
  const summary = results.find(({ tool, success }) => tool === FINALIZE_TOOL && success);
  if (summary === undefined) return undefined;
  return typeof summary.output === "string" ? summary.output : describeResult(summary.output);
}

/** As spec 1 has it: each tool's result once, under its own name. */
function shownContext(context: JsonObject, runnable: readonly PlannedAction[]): Record<string, Json> {
  const shown: Record<string, Json> = { ...context };
  for (const { tool } of runnable) {
    if (tool in shown || shown[resultKey(tool)] === null) delete shown[resultKey(tool)];
    if (shown[tool] === null) delete shown[tool];
  }
  return shown;
}
