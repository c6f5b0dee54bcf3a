import { z } from "zod";
import { planError } from "../../../errors/plan.ts";
import { INLINE_LIMIT_BYTES } from "../../../schema/blob.ts";
import { Json, type JsonSchema } from "../../../schema/values/json.ts";
import type { PlanStep } from "../../../schema/plan.ts";
import type { OpenWait } from "../../../schema/session.ts";
import { compileJsonSchema } from "../../../tools/json-schema/compile.ts";
import type { Visit } from "../../visits.ts";
import type { Completion } from "../../transition.ts";
import type { PlacedWait } from "./waits.ts";

/** More names than these would be no help. */
const MAX_FIELDS_NAMED = 8;
const MAX_WAITS_NAMED = 10;

/**
 * How a person answers a failed step. `happened` is the result, where the outcome was unknown and they know it; `accept`
 * and `refuse` are for the correction that the supervisor has proposed.
 */
const ErrorAnswer = z.strictObject({
  action: z.enum(["retry", "skip", "abort", "accept", "refuse"]).optional(),
  arguments: z.record(z.string(), Json).optional(),
  happened: Json.optional(),
});

/** Picks the wait that an answer is for. */
export function chooseWait(waits: readonly PlacedWait[], step: string | undefined): PlacedWait {
  const open = waits.filter(({ wait }) => wait.kind !== "time");
  const chosen = step === undefined ? open : open.filter(({ wait }) => wait.path === step || wait.stepId === step);
  const [first, second] = chosen;
  if (first === undefined) {
    const paths = open.map(({ wait }) => wait.path);
    const others = paths.length === 0 ? "Nothing waits for an answer." : `These wait: ${named(paths)}.`;
    const message = step === undefined ? others : `No open wait at step "${step}". ${others}`;
    throw planError("wait_not_open", message, { details: { open: paths } });
  }
  if (second === undefined) return first;
  const paths = chosen.map(({ wait }) => wait.path);
  throw planError("wait_ambiguous", `Several waits are open; name one with "step": ${named(paths)}.`, {
    details: { open: paths },
  });
}

function named(paths: readonly string[]): string {
  const more = paths.length - MAX_WAITS_NAMED;
  return paths.slice(0, MAX_WAITS_NAMED).join(", ") + (more > 0 ? ` and ${String(more)} more` : "");
}

/** Turns an answer into a completion, or says what is wrong with it. */
export async function answerFor(
  { wait, position, visit }: PlacedWait,
  step: PlanStep,
  input: Json | undefined,
  atMs: number,
): Promise<Completion> {
  switch (wait.kind) {
    case "human":
      return { kind: "answered", position, atMs, input: await humanInput(step, visit, input) };
    case "error":
      return { ...errorAnswer(step, wait, input), position, atMs };
    case "approval":
      throw planError("wait_not_open", `Step "${wait.stepId}" waits for an approval; answer it with the approvals.`, {
        details: { stepId: wait.stepId },
      });
    case "time":
    case "energy":
      throw planError("wait_not_open", `Step "${wait.stepId}" does not wait for a person.`, {
        details: { stepId: wait.stepId },
      });
  }
}

async function humanInput(step: PlanStep, { frame }: Visit, input: Json | undefined): Promise<Json> {
  const question = frame.state.kind === "human" ? frame.state.asked?.question : undefined;
  // To a tool's question nothing is an answer too, if it is said: the person does not want to tell.
  if (question !== undefined && input === null) return null;
  // Who was sent to an address has been there.
  if (question?.url !== undefined) return input ?? true;
  const inputSchema = question?.inputSchema ?? (step.type === "human_in_the_loop" ? step.inputSchema : undefined);
  if (inputSchema === undefined) return input ?? null;
  const validate = await compileJsonSchema(inputSchema);
  const checked = validate(input ?? null);
  if (checked.ok) return checked.value as Json;
  const wanted = `The answer to step "${step.id}" does not fit what it asks for${fieldsOf(inputSchema)}.`;
  throw planError("resume_input_invalid", wanted, { details: { issues: checked.issues } });
}

/** A bare value is the most frequent mistake: where fields are asked for, they are named. */
function fieldsOf(schema: JsonSchema): string {
  const required: unknown = typeof schema === "object" ? schema["required"] : undefined;
  if (!Array.isArray(required) || required.length === 0) return "";
  return `: an object with ${required
    .slice(0, MAX_FIELDS_NAMED)
    .map((name) => JSON.stringify(name))
    .join(", ")}`;
}

type Reviewed = Pick<Extract<Completion, { kind: "reviewed" }>, "kind" | "accepted">;
type Decided = Pick<Extract<Completion, { kind: "decided" }>, "kind" | "decision">;

function errorAnswer(step: PlanStep, { error, correction }: OpenWait, input: Json | undefined): Reviewed | Decided {
  // Saying nothing is no wish to do again what may have been done.
  if ((input ?? null) === null && error?.code === "outcome_unknown")
    throw planError(
      "resume_input_invalid",
      `Nobody knows whether the call of step "${step.id}" took effect. Say what is to be done: {"happened": its result} if it did; else {"action": "retry" | "skip" | "abort"}.`,
    );
  const answer = readAnswer(input);
  if (answer.action !== "accept" && answer.action !== "refuse")
    return { kind: "decided", decision: decision(step, error?.code, answer) };
  if (answer.arguments !== undefined || answer.happened !== undefined)
    throw planError(
      "resume_input_invalid",
      `"${answer.action}" stands alone: the correction is taken as it is, or not.`,
    );
  if (correction === undefined || (correction.accepted && answer.action === "refuse"))
    throw planError("resume_input_invalid", `No correction of step "${step.id}" waits to be accepted or refused.`);
  return { kind: "reviewed", accepted: answer.action === "accept" };
}

function readAnswer(input: Json | undefined): z.infer<typeof ErrorAnswer> {
  const parsed = ErrorAnswer.safeParse(input ?? { action: "retry" });
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => ({
      path: `/${issue.path.join("/")}`,
      code: issue.code,
      message: issue.message,
    }));
    throw planError(
      "resume_input_invalid",
      "After an error, answer with {action: retry | skip | abort | accept | refuse, arguments?, happened?}.",
      { details: { issues } },
    );
  }
  return parsed.data;
}

function decision(step: PlanStep, code: string | undefined, answer: z.infer<typeof ErrorAnswer>): Decided["decision"] {
  if (answer.happened !== undefined) return settledBy(step, code, answer.happened, answer);
  if (answer.action === undefined)
    throw planError("resume_input_invalid", 'Say what to do: "action" is retry, skip or abort.');
  if (answer.arguments !== undefined && (answer.action !== "retry" || step.type !== "tool_call")) {
    throw planError("resume_input_invalid", '"arguments" go with "retry" of a tool call.');
  }
  if (answer.arguments !== undefined && JSON.stringify(answer.arguments).length > INLINE_LIMIT_BYTES) {
    throw planError(
      "resume_input_invalid",
      `Changed arguments may have ${String(INLINE_LIMIT_BYTES)} characters at most.`,
    );
  }
  if (answer.action === "skip" || answer.action === "abort") return { action: answer.action };
  return answer.arguments === undefined ? { action: "retry" } : { action: "retry", args: answer.arguments };
}

/** A call that took effect has its result; then the run goes on, or ends. */
function settledBy(
  step: PlanStep,
  code: string | undefined,
  output: Json,
  { action, arguments: args }: z.infer<typeof ErrorAnswer>,
): Decided["decision"] {
  if (code !== "outcome_unknown")
    throw planError(
      "resume_input_invalid",
      `"happened" settles an unknown outcome; step "${step.id}" failed with ${code ?? "an error"}.`,
    );
  if (action === "retry" || args !== undefined)
    throw planError("resume_input_invalid", 'What "happened" is not done again: leave out "action" and "arguments".');
  return action === "abort" ? { action, output } : { action: "happened", output };
}
