import { errorValue, isErgonError, toErgonError, type ErrorValue } from "../../errors/ergon-error.ts";
import { jsonProblem } from "../../schema/values/json.ts";
import { Question } from "../../schema/question.ts";
import type { AllowedCall } from "./call.ts";

type Called = Pick<AllowedCall, "toolId" | "effects">;

/** What a tool says of its failure is kept up to this length. */
export const MAX_ERROR_MESSAGE = 10_000;
const MAX_ERROR_DETAILS = 16 * 1024;

/** What became of a call whose tool threw: its message, never its stack. */
export function failureOf(call: Called, thrown: unknown): ErrorValue {
  try {
    const error = toErgonError(hasMessage(thrown) ? new Error(thrown.message) : thrown, "tool_failed");
    const isTyped = isErgonError(error) && thrown === error;
    if (isTyped && error.code === "outcome_unknown" && call.effects === "once") {
      return errorValue("outcome_unknown", cut(error.message), { details: detailsOf(call, error.details) });
    }
    if (isTyped && error.code === "input_required") {
      const question = Question.safeParse(error.details);
      const isBounded = JSON.stringify(error.details ?? null).length <= MAX_ERROR_DETAILS;
      if (question.success && isBounded) {
        return errorValue("input_required", cut(error.message), { details: question.data });
      }
    }
    const message = error.message === "" ? `"${call.toolId}" failed and did not say why.` : cut(error.message);
    return errorValue("tool_failed", message, {
      // A tool that says nothing of it may be tried again: most failures pass, and a plan's `retry` is its author's
      // wish. Not one of effects `once`: it may have failed after it had sent. A call whose outcome is unknown may be
      // repeated where repeating does no harm.
      retryable: isTyped ? Boolean(error.retryable) || error.code === "outcome_unknown" : call.effects !== "once",
      details: detailsOf(call, error.details, isTyped ? error.code : undefined),
    });
  } catch {
    const message = `"${call.toolId}" failed with something that cannot even be looked at.`;
    return errorValue("tool_failed", message, { details: { toolId: call.toolId } });
  }
}

/** Once sent, a call that may be made only once is neither done nor not done: somebody has to look. */
export function timedOut({ toolId, effects }: Called, timeoutMs: number): ErrorValue {
  const details = { toolId, timeoutMs };
  const silent = `"${toolId}" did not answer within ${String(timeoutMs)} ms`;
  if (effects === "once") return errorValue("outcome_unknown", `${silent}; it may have taken effect.`, { details });
  return errorValue("tool_timeout", `${silent}.`, { retryable: true, details });
}

/** The same for a call that its caller gave up while it was under way. */
export function cancelled({ toolId, effects }: Called): ErrorValue {
  const details = { toolId };
  if (effects === "once") {
    const message = `"${toolId}" was cancelled while it was under way; it may have taken effect.`;
    return errorValue("outcome_unknown", message, { details });
  }
  return errorValue("cancelled", `"${toolId}" was cancelled.`, { details });
}

/** An error of ours as it is; anything else as `fallback` says. Never throws, whatever was thrown. */
export function errorFrom(thrown: unknown, fallback: (reason: string) => ErrorValue): ErrorValue {
  try {
    if (isErgonError(thrown)) {
      const { code, message, retryable, details } = thrown;
      return errorValue(code, message, { retryable, details });
    }
    return fallback(thrown instanceof Error ? thrown.message : "a value that is no Error was thrown");
  } catch {
    return fallback("what was thrown cannot even be looked at");
  }
}

/** Database clients throw plain objects with a message. */
function hasMessage(thrown: unknown): thrown is { readonly message: string } {
  if (typeof thrown !== "object" || thrown === null || thrown instanceof Error) return false;
  return "message" in thrown && typeof thrown.message === "string";
}

function detailsOf(call: Called, given: unknown, code?: string): Readonly<Record<string, unknown>> {
  const base = { toolId: call.toolId, ...(code === undefined || code === "tool_failed" ? {} : { code: cut(code) }) };
  if (given === undefined || jsonProblem(given) !== undefined) return base;
  return JSON.stringify(given).length > MAX_ERROR_DETAILS ? base : { ...base, details: given };
}

function cut(message: string): string {
  return message.length <= MAX_ERROR_MESSAGE ? message : `${message.slice(0, MAX_ERROR_MESSAGE)}…`;
}
