/*
 * Follows a session for a client until it has settled, and puts its questions to the client's user where the client can.
 *
 * A1  The run is durable: whatever becomes of the request, the session goes on, and get_session finds it.
 * A2  A round that brings an answer goes on with the session of the round before; nothing is started twice.
 * A3  What the client carries between rounds is signed, bound to the principal, the tool and its arguments, and expires.
 * A4  Where the client has no form, or the answer may not be asked for in one, the result carries the question.
 * A5  A call is approved there only for a client that may approve (`--may-approve`, or a person's token), and the first answer
 *     counts, wherever it was given. For any other client the result carries the approval's id and the command that approves it.
 */
import { isErgonError, type JsonObject, type SessionCore } from "@ergon/core";
import { canonicalJson, type OpenWait, sha256Hex } from "@ergon/core/schema";
import type { SessionView, Waiting } from "@ergon/core/engine";
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { answerForm } from "./answer-form.ts";
import { answer } from "./answers.ts";
import { type ApprovalForm, approvalForm, decisionIn } from "./approval-form.ts";
import { followProgress, type ProgressReader } from "./follow-progress.ts";
import type { WithOwner } from "./with-owner.ts";
import { sessionAnswer } from "./session-answer.ts";
import type { McpCall } from "../host/surface.ts";
import { type GoOnce, resumeOnce } from "../../services/go-once.ts";

/** The key under which a question travels; there is one at a time. */
const QUESTION = "answer";
/** Questions of one request; the rest is asked through resume_session. The SDK gives up on older clients after eight. */
export const MAX_QUESTIONS = 6;

/** What is carried from the round that asked to the round that brings the answer. */
const Asked = z.object({
  tool: z.string(),
  args: z.string(),
  sessionId: z.string(),
  path: z.string(),
  /** The call that the question was about; absent where the session itself asked. */
  approvalId: z.string().exactOptional(),
  round: z.int().positive(),
});
type Asked = z.infer<typeof Asked>;

type AskedQuestion = ApprovalForm & Pick<Asked, "path" | "approvalId">;

/** A session as it was found, without its history. */
export type Found = Pick<SessionView, "core" | "context">;

export type Drive<R> = {
  readonly tool: string;
  readonly args: JsonObject;
  /** How long the session is waited for; absent: until it has settled. */
  readonly waitMs?: number;
  /**
   * Sets the session going, or gives the answer where none was needed. `waiting` where it may wait for the session itself.
   * Not called in a round that brings an answer.
   */
  readonly begin: (waiting: Waiting) => Promise<{ readonly sessionId: string } | { readonly result: R }>;
  /** What the client is told once nothing more is asked. */
  readonly report: (view: Found) => R | Promise<R>;
  /** How its progress is told; absent: step by step. */
  readonly tell?: () => ProgressReader;
  /** A run that is the request's alone: it ends when the client gives the request up before anybody was asked. */
  readonly endsWithRequest?: boolean;
};

export async function driveSession<R>(
  reach: WithOwner,
  call: McpCall,
  { tool, args, waitMs = Infinity, begin, report, tell, endsWithRequest = false }: Drive<R>,
): Promise<R | InputRequiredResult> {
  const { owner, signal } = call;
  const asked = askedBefore(call, tool, args);
  const deadlineMs = performance.now() + waitMs;
  if (asked === undefined) {
    // What is followed has to be there first.
    const isFollowed = call.wantsProgress || endsWithRequest;
    const begun = await begin(isFollowed ? {} : { waitMs, signal });
    return "result" in begun ? begun.result : await follow(begun.sessionId, 0);
  }
  const { sessionId, path, approvalId, round } = asked;
  const response = inputResponse(call.answers, QUESTION);
  if (response.kind !== "elicit") return await follow(sessionId, round);
  if (approvalId !== undefined) {
    const decision = decisionIn(response);
    if (decision === undefined) return await report(await read(sessionId, 0));
    await decide(approvalId, decision);
    return await follow(sessionId, round);
  }
  if (response.action !== "accept") return await report(await read(sessionId, 0));
  const problem = await give(sessionId, path, response.content ?? {});
  return await follow(sessionId, round, problem);

  async function follow(sessionId: string, round: number, problem = ""): Promise<R | InputRequiredResult> {
    const view = endsWithRequest && round === 0 ? await settleOrEnd(sessionId) : await settle(sessionId);
    const question = call.canAsk && round < MAX_QUESTIONS ? await questionOf(view.core) : undefined;
    if (question === undefined) return await report(view);
    const { message, schema, ...about } = question;
    const state: Asked = { tool, args: hashOf(args), sessionId, ...about, round: round + 1 };
    return inputRequired({
      inputRequests: {
        [QUESTION]: inputRequired.elicit({ message: `${problem}${message}`, requestedSchema: schema }),
      },
      requestState: await call.remember(state),
    });
  }

  async function settleOrEnd(sessionId: string): Promise<Found> {
    const end = (): void => {
      // What has ended meanwhile cannot be cancelled, and need not be.
      reach({ repeatable: true }, ({ engine }) => engine.cancel({ owner, sessionId })).catch(() => undefined);
    };
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    try {
      return await settle(sessionId);
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  async function settle(sessionId: string): Promise<Found> {
    return await read(sessionId, Math.max(0, deadlineMs - performance.now()));
  }

  async function read(sessionId: string, waitMs: number): Promise<Found> {
    return await reach({ repeatable: true }, async ({ engine }) => {
      const follows = waitMs > 0 && call.wantsProgress;
      const stop = follows ? followProgress(engine, call, sessionId, tell?.()) : () => undefined;
      try {
        return await engine.readSession({ owner, sessionId, historyLimit: 1, waitMs, signal });
      } finally {
        stop();
      }
    });
  }

  async function questionOf({ status, waiting }: SessionCore): Promise<AskedQuestion | undefined> {
    if (status !== "paused_on_human") return undefined;
    for (const wait of waiting) {
      const { path, approvalId } = wait;
      const form = approvalId === undefined ? humanForm(wait) : await aboutCall(approvalId);
      if (form !== undefined) return { ...form, path, ...(approvalId === undefined ? {} : { approvalId }) };
    }
    return undefined;
  }

  async function aboutCall(approvalId: string): Promise<ApprovalForm | undefined> {
    if (!call.mayApprove()) return undefined;
    return approvalForm(await reach({ repeatable: true }, ({ approvalsOf }) => approvalsOf(owner).find(approvalId)));
  }

  async function decide(approvalId: string, decision: NonNullable<ReturnType<typeof decisionIn>>): Promise<void> {
    if (!call.mayApprove()) return;
    try {
      // The same answer given twice is one answer.
      await reach({ repeatable: true }, ({ approvalsOf }) => approvalsOf(owner).decide(approvalId, decision));
    } catch (thrown) {
      if (!isErgonError(thrown) || !ANSWERED_ELSEWHERE.has(thrown.code)) throw thrown;
    }
  }

  /** What was wrong with the answer, as the beginning of the next question; nothing when it was taken. */
  async function give(sessionId: string, path: string, content: Readonly<Record<string, unknown>>): Promise<string> {
    try {
      let send: GoOnce | undefined;
      await reach({ repeatable: true }, async ({ engine }) => {
        const { core } = await engine.readSession({ owner, sessionId, historyLimit: 1 });
        const wait = core.waiting.find((open) => open.path === path);
        const form = wait === undefined ? undefined : answerForm(wait);
        // Another client has answered meanwhile: what follows is what the session does now.
        if (form === undefined) return;
        // A form answers a step that asks; a correction is accepted by a person with a token, never here (A5).
        send ??= resumeOnce({ owner, sessionId, step: path, input: form.read(content), mayApprove: false });
        await send(engine, {}, core);
      });
      return "";
    } catch (thrown) {
      if (isErgonError(thrown) && thrown.code === "wait_not_open") return "";
      if (isErgonError(thrown) && thrown.code === "resume_input_invalid") return `${thrown.message}\n`;
      throw thrown;
    }
  }
}

/** A session as it stands, told as a tool's result. */
export function reportSession(view: Found): CallToolResult {
  return answer(sessionAnswer(view));
}

const ANSWERED_ELSEWHERE = new Set([
  "approval_decided",
  "approval_expired",
  "approval_withdrawn",
  "approval_not_found",
]);

function humanForm(wait: OpenWait): ApprovalForm | undefined {
  const form = wait.kind === "human" ? answerForm(wait) : undefined;
  return form === undefined ? undefined : { message: wait.message, schema: form.schema };
}

function askedBefore(call: McpCall, tool: string, args: JsonObject): Asked | undefined {
  const remembered = call.remembered();
  if (remembered === undefined) return undefined;
  const parsed = Asked.safeParse(remembered);
  if (parsed.success && parsed.data.tool === tool && parsed.data.args === hashOf(args)) return parsed.data;
  // The same words as for a state that was tampered with: nobody learns which of the checks it failed.
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState", {
    reason: "invalid_request_state",
  });
}

function hashOf(args: JsonObject): string {
  return sha256Hex(canonicalJson(args));
}
