/*
 * Follows a session for a client until it has settled, and puts its questions to the client's user where the client can.
 *
 * A1  The run is durable: whatever becomes of the request, the session goes on, and get_session finds it.
 * A2  A round that brings an answer goes on with the session of the round before; nothing is started twice.
 * A3  What the client carries between rounds is signed, bound to the principal, the tool and its arguments, and expires.
 * A4  Where the client has no form, or the answer may not be asked for in one, the result carries the question.
 */
import { canonicalJson, isErgonError, type JsonObject, type OpenWait, type SessionCore, sha256Hex } from "@ergon/core";
import {
  type CallToolResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { type AnswerForm, answerForm } from "./answer-form.ts";
import { answer } from "./answers.ts";
import { followProgress } from "./follow-progress.ts";
import type { Reach } from "./reach.ts";
import { sessionAnswer } from "./session-answer.ts";
import type { McpCall } from "./surface.ts";

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
  round: z.int().positive(),
});
type Asked = z.infer<typeof Asked>;

export type Drive = {
  readonly tool: string;
  readonly args: JsonObject;
  readonly waitMs: number;
  /** Sets the session going and gives its id; not called in a round that brings an answer. */
  readonly begin: () => Promise<string>;
};

export async function driveSession(
  reach: Reach,
  call: McpCall,
  { tool, args, waitMs, begin }: Drive,
): Promise<CallToolResult | InputRequiredResult> {
  const asked = askedBefore(call, tool, args);
  if (asked === undefined) return await follow(await begin(), 0);
  const { sessionId, path, round } = asked;
  const response = inputResponse(call.answers, QUESTION);
  if (response.kind === "elicit" && response.action !== "accept") return await report(sessionId);
  if (response.kind !== "elicit") return await follow(sessionId, round);
  const problem = await give(sessionId, path, response.content ?? {});
  return await follow(sessionId, round, problem);

  async function follow(sessionId: string, round: number, problem = ""): Promise<CallToolResult | InputRequiredResult> {
    const core = await settle(sessionId);
    const question = call.canAsk && round < MAX_QUESTIONS ? questionOf(core) : undefined;
    if (question === undefined) return await report(sessionId);
    const { wait, form } = question;
    const state: Asked = { tool, args: hashOf(args), sessionId, path: wait.path, round: round + 1 };
    return inputRequired({
      inputRequests: {
        [QUESTION]: inputRequired.elicit({ message: `${problem}${wait.message}`, requestedSchema: form.schema }),
      },
      requestState: await call.remember(state),
    });
  }

  async function settle(sessionId: string): Promise<SessionCore> {
    const { owner, signal } = call;
    return await reach({ repeatable: true }, async ({ engine }) => {
      const stop = call.wantsProgress ? followProgress(engine, call, sessionId) : () => undefined;
      try {
        return await engine.settled({ owner, sessionId, timeoutMs: waitMs, signal });
      } finally {
        stop();
      }
    });
  }

  async function report(sessionId: string): Promise<CallToolResult> {
    const { owner } = call;
    return await reach({ repeatable: true }, async ({ engine }) =>
      answer(sessionAnswer(await engine.readSession({ owner, sessionId, historyLimit: 1 }))),
    );
  }

  /** What was wrong with the answer, as the beginning of the next question; nothing when it was taken. */
  async function give(sessionId: string, path: string, content: Readonly<Record<string, unknown>>): Promise<string> {
    const { owner } = call;
    try {
      await reach({ repeatable: false }, async ({ engine }) => {
        const { core } = await engine.readSession({ owner, sessionId, historyLimit: 1 });
        const wait = core.waiting.find((open) => open.path === path);
        const form = wait === undefined ? undefined : answerForm(wait);
        // Somebody else has answered meanwhile: what follows is what the session does now.
        if (form === undefined) return;
        await engine.resume({ owner, sessionId, step: path, input: form.read(content) });
      });
      return "";
    } catch (thrown) {
      if (isErgonError(thrown) && thrown.code === "wait_not_open") return "";
      if (isErgonError(thrown) && thrown.code === "resume_input_invalid") return `${thrown.message}\n`;
      throw thrown;
    }
  }
}

function questionOf(core: SessionCore): { readonly wait: OpenWait; readonly form: AnswerForm } | undefined {
  if (core.status !== "paused_on_human") return undefined;
  for (const wait of core.waiting) {
    const form = wait.kind === "human" ? answerForm(wait) : undefined;
    if (form !== undefined) return { wait, form };
  }
  return undefined;
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
