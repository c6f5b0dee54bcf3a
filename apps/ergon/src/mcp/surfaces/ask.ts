import { type Json, type JsonObject, type LoopRequest, type MCPResponse, Outcome, PlannedAction } from "@ergon/core";
import { ActionResult, MAX_CALLER_ACTIONS, MAX_MESSAGE_CHARS, Mode, SessionId } from "@ergon/core/schema";
import type { Ids } from "@ergon/core/store-kit";
import { findingsIn, readySession } from "@ergon/core/planner";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/server";
import { z } from "zod";
import { answer, outputSchema } from "../drive/answers.ts";
import { driveSession, type Found } from "../drive/drive-session.ts";
import { followProgress } from "../drive/follow-progress.ts";
import type { McpWorkspace, WithOwner } from "../drive/with-owner.ts";
import { sessionAnswer } from "../drive/session-answer.ts";
import { define, DEFAULT_WAIT_SECONDS, parse, waitSeconds } from "./sessions.ts";
import type { McpCall, McpSurface } from "../host/surface.ts";

/** Results larger than this together are left out of the answer; get_session has them. */
const MAX_RESULT_CHARS = 32 * 1024;

export type AskDeps = { readonly reach: WithOwner; readonly ids: Ids };

/** The planner loop as a tool, with a plan of Ergon's own making or of the host's model. */
export function askSurface({ reach, ids }: AskDeps): McpSurface {
  const tool = {
    definition: define(ASK, AskArgs, ASK_OUTPUT),
    call: async (args: JsonObject, call: McpCall): Promise<CallToolResult | InputRequiredResult> => {
      const { message, sessionId = ids.next("ses"), mode, plan, planBy, waitSeconds: seconds } = parse(AskArgs, args);
      const request: LoopRequest = {
        mode,
        sessionId,
        messages: [{ role: "user", content: message }],
        planBy,
        ...(plan === undefined ? {} : { plan }),
      };
      const waitMs = seconds * 1_000;
      return await driveSession(reach, call, {
        tool: ASK.name,
        args,
        waitMs,
        begin: async () =>
          await reach({ repeatable: false }, async (workspace) => {
            const said = await turn(workspace, call, request, waitMs);
            // Whom it waits for may be whoever uses the client.
            const isPaused = said.status === "failed" && (await isWaiting(workspace, call.owner, sessionId));
            return isPaused ? { sessionId } : { result: told(said) };
          }),
        report: (view) => told(answerIn(view)),
      });
    },
  };
  return { tools: () => [tool] };
}

/** A turn of which nothing came is an error for the client too. */
function told(said: AskAnswer): CallToolResult {
  return said.status === "failed" ? { ...answer(said), isError: true } : answer(said);
}

async function isWaiting({ engine }: McpWorkspace, owner: string, sessionId: string): Promise<boolean> {
  const { status } = await engine.settled({ owner, sessionId, timeoutMs: 0 });
  return status === "paused_on_human";
}

/** What came of a turn that waited for a person; its calls are in the session. */
function answerIn(view: Found): AskAnswer {
  const { sessionId, status, finalResponse, waiting, error, next } = sessionAnswer(view);
  const shared = { sessionId, plan: [], results: [], ...(next === undefined ? {} : { next }) };
  if (status === "running") return stillRunning(sessionId);
  if (status === "paused_on_human")
    return {
      ...shared,
      status: "waiting",
      outcome: "waiting",
      answer: waiting.map(({ message }) => message).join(" "),
    };
  if (status !== "completed")
    return { ...shared, status: "failed", outcome: "failed", answer: error?.message ?? `The session is ${status}.` };
  const { findings, failures } = findingsIn(view.context);
  if (failures.length === 0)
    return { ...shared, status: "answered", outcome: "answered", answer: textOf(finalResponse) };
  const [first] = failures;
  if (findings.length === 0)
    return { ...shared, status: "failed", outcome: "failed", answer: first === undefined ? "" : first.text };
  return { ...shared, status: "answered", outcome: "partial", answer: textOf(finalResponse) };
}

function textOf(said: Json | undefined): string {
  return typeof said === "string" ? said : JSON.stringify(said ?? null);
}

async function turn(
  { engine, ask }: McpWorkspace,
  call: McpCall,
  request: LoopRequest,
  waitMs: number,
): Promise<AskAnswer> {
  const { owner, signal } = call;
  const { sessionId, mode } = request;
  await readySession(engine, { owner, sessionId, mode });
  const stopFollowing = call.wantsProgress ? followProgress(engine, call, sessionId) : () => undefined;
  // The turn is durable work: it goes on when the client has gone, and get_session finds what it wrote.
  const asked = ask({ owner, request, signal: new AbortController().signal });
  asked.catch(() => undefined);
  try {
    const response = await within(asked, waitMs, signal);
    return response === undefined ? stillRunning(sessionId) : askAnswer(sessionId, response);
  } finally {
    stopFollowing();
  }
}

/** Undefined when it has not come in time, or nobody waits any longer. */
async function within<T>(work: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  const left = (): void => resolve(undefined);
  signal.addEventListener("abort", left, { once: true });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", left);
  }
}

function stillRunning(sessionId: string): AskAnswer {
  const next = `Still at work, and it goes on by itself. Look again: get_session with sessionId "${sessionId}" and waitSeconds.`;
  return { sessionId, status: "running", plan: [], results: [], next };
}

function askAnswer(sessionId: string, response: MCPResponse): AskAnswer {
  const { plan = [], intermediateResults = [], summaryMessage, planningPrompt, outcome } = response.data ?? {};
  const came = outcome === undefined ? {} : { outcome };
  const shared = { sessionId, plan: [...plan], results: shown(intermediateResults), ...came };
  if (!response.success) return { ...shared, status: "failed", answer: response.error };
  const said = summaryMessage === undefined ? {} : { answer: summaryMessage };
  if (planningPrompt !== undefined)
    return { ...shared, ...said, status: "needs_plan", planningPrompt, next: PLAN_NEXT };
  const question = plan.length === 0 && summaryMessage !== undefined;
  return { ...shared, ...said, status: question ? "asks" : "answered" };
}

/** The newest first to be kept whole: what an answer rests on mostly comes last. */
function shown(results: readonly ActionResult[]): ActionResult[] {
  let room = MAX_RESULT_CHARS;
  const kept = results.toReversed().map((result): ActionResult => {
    const { length } = JSON.stringify(result.output);
    room -= length;
    return room >= 0 ? result : { ...result, output: LEFT_OUT };
  });
  return kept.toReversed();
}

const LEFT_OUT: Json = { leftOut: "too large for this answer; get_session shows it" };
const PLAN_NEXT =
  "Read planningPrompt, make the plan it asks for, and call ask again with the same sessionId and message and that plan. Or ask the user what is unclear.";

const AskArgs = z.strictObject({
  message: z.string().trim().min(1).max(MAX_MESSAGE_CHARS).describe("what the user wants, in their own words"),
  sessionId: SessionId.optional().describe("goes on in a session of an earlier ask; without it a new one begins"),
  mode: Mode.default("general").describe("for whom: it decides which tools may be used"),
  plan: z
    .array(PlannedAction.extend({ args: PlannedAction.shape.args.default({}) }))
    .min(1)
    .max(MAX_CALLER_ACTIONS)
    .optional()
    .describe("a plan that you made from planningPrompt: it is checked whole, then run"),
  planBy: z
    .enum(["either", "ergon", "caller"])
    .default("either")
    .describe(
      "either: Ergon plans, and where it is unsure you get planningPrompt; caller: you get planningPrompt at once; ergon: Ergon alone",
    ),
  waitSeconds: waitSeconds(DEFAULT_WAIT_SECONDS),
});

const AskAnswer = z.object({
  sessionId: z.string(),
  status: z.enum(["answered", "asks", "needs_plan", "waiting", "running", "failed"]),
  outcome: Outcome.optional().describe("whether all of it was done, a part, or nothing"),
  answer: z.string().optional().describe("the answer, the question back, whom it waits for, or why it failed"),
  plan: z.array(PlannedAction).describe("what was planned"),
  results: z.array(ActionResult).describe("what each tool found"),
  planningPrompt: z.object({ system: z.string(), user: z.string() }).optional(),
  next: z.string().optional().describe("what to do now"),
});
type AskAnswer = z.infer<typeof AskAnswer>;

const ASK_OUTPUT = outputSchema(z.toJSONSchema(AskAnswer, { unrepresentable: "any" }));

const ASK = {
  name: "ask",
  title: "Ask in plain words",
  description:
    "Answers a request in plain words with Ergon's tools: plans which to use, runs them durably and sums up. Where Ergon is not sure, it gives you the planning prompt, and you call again with the plan.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
