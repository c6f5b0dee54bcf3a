import { createSystemClock, isErgonError, type LoopRequest, type MCPResponse } from "@ergon/core";
import { Mode, SessionId, usageError } from "@ergon/core/schema";
import { createIds } from "@ergon/core/store-kit";
import type { Engine } from "@ergon/core/engine";
import { readySession } from "@ergon/core/planner";
import { FIRST_PRINCIPAL } from "@ergon/node";
import type { CommandContext } from "../command-context.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { exitCodeForAnswer, reportAnswer } from "../output/answer-report.ts";
import { followSteps } from "../output/follow-steps.ts";
import { startProgressLine } from "../output/progress-line.ts";
import { throughOwner } from "../../workspace/through-owner.ts";

export type AskOptions = { readonly message: string; readonly mode: string; readonly session?: string };

/** One turn of the planner loop: plan and steps are shown as they come, then the answer. */
export async function ask(context: CommandContext, options: AskOptions): Promise<ExitCode> {
  const { terminal, signal, compose } = context;
  const request = requestOf(options);
  const { sessionId } = request;
  const app = await compose();
  try {
    const response = await throughOwner(
      app,
      { recover: true, repeatable: false },
      async ({ engine, ask: turn }): Promise<MCPResponse> => {
        const { updatedAt } = await readySession(engine, { owner: FIRST_PRINCIPAL, sessionId, mode: request.mode });
        const seen = { seq: 0, at: options.session === undefined ? "" : updatedAt };
        const follower = followSteps(terminal, engine, { owner: FIRST_PRINCIPAL, sessionId, seen });
        const line = startProgressLine(terminal, "thinking");
        try {
          const answer = await turn({ request, signal });
          const core = await engine.settled({ owner: FIRST_PRINCIPAL, sessionId, timeoutMs: 0 });
          await follower.caughtUp(core.updatedAt);
          return answer;
        } finally {
          line.stop();
          await follower.stop();
          if (signal.aborted) await stop(engine, sessionId);
        }
      },
    );
    reportAnswer(terminal, sessionId, response);
    return exitCodeForAnswer(response);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    terminal.note(`Session ${sessionId} was stopped.`);
    return EXIT.interrupted;
  } finally {
    await app.close();
  }
}

function requestOf({ message, mode, session }: AskOptions): LoopRequest {
  const known = Mode.safeParse(mode);
  if (!known.success) throw usageError("usage", `--mode takes ${Mode.options.join(", ")}, not "${mode}".`);
  if (message.trim() === "") throw usageError("usage", 'Say what you want: ergon ask "…".');
  const id = SessionId.safeParse(session ?? createIds({ clock: createSystemClock() }).next("ses"));
  if (!id.success)
    throw usageError("usage", `"${session ?? ""}" cannot be a session's id: letters, digits and _.:- only.`);
  return { mode: known.data, sessionId: id.data, messages: [{ role: "user", content: message }] };
}

/** What is under way ends with whoever asked for it; nothing may be left to stop. */
async function stop(engine: Engine, sessionId: string): Promise<void> {
  try {
    await engine.cancel({ owner: FIRST_PRINCIPAL, sessionId });
  } catch (thrown) {
    if (!isErgonError(thrown)) throw thrown;
  }
}
