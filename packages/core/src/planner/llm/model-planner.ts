import { isErgonError } from "../../errors/ergon-error.ts";
import { plannerError } from "../../errors/planner.ts";
import type { ChatModel, ChatReply } from "../../ports/chat-model.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ChatMessage } from "../../schema/mcp-loop.ts";
import type { JsonSchema } from "../../schema/values/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import type { Tool } from "../../tools/tool.ts";
import { MAX_PLANNED_TOOLS, type Planner, type PlannerAnswer, type PlannerInput } from "../planner.ts";
import { notedModel } from "../turn/trace.ts";
import { checkPlan } from "./check-plan.ts";
import type { OfferTools } from "./offer-tools.ts";
import { parseReply } from "./parse-reply.ts";
import { buildPlannerPrompt, type PlannerPrompt } from "./planner-prompt.ts";

/** Spec 1's settings. */
const TEMPERATURE = 0.3;
const MAX_OUTPUT_TOKENS = 1_000;

export type ModelPlannerDeps = {
  readonly model: ChatModel;
  readonly clock: Clock;
  readonly prompt?: PlannerPrompt;
  /** Which tools the model is shown; all of them by default. */
  readonly offer?: OfferTools;
};

/**
 * Spec 1's planner: the model chooses tools from a list. What it answers is read tolerantly and checked; if something
 * is wrong it is told so once, and what is still wrong after that is left out, cut or reported.
 */
export function createModelPlanner(deps: ModelPlannerDeps): Planner {
  const { model, clock, prompt = buildPlannerPrompt, offer = async ({ tools }) => tools } = deps;
  return async (input) => {
    const tools = await offer(input);
    const { system, user, truncated } = prompt({ ...input, tools }, model.id, "object");
    if (truncated.length > 0) {
      const parts = truncated.slice(0, MAX_NAMED).map(({ path, from, to }) => {
        const what = path === "" ? "the whole context" : path;
        return `${what} (${String(from)} to ${String(to)})`;
      });
      const more = truncated.length > MAX_NAMED ? ` and ${String(truncated.length - MAX_NAMED)} more` : "";
      const message = `Parts were shortened for the prompt: ${parts.join(", ")}${more}.`;
      input.note.warning({ code: "prompt_truncated", message });
    }
    const messages: ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: user },
    ];
    const schema = planSchema(tools);
    const first = await ask(input, { messages, schema, purpose: "plan" }).catch(emptyReply);
    const read = parseReply(first);
    const { issues } = read.ok ? await checkPlan(read.plan, input) : read;
    if (read.ok && issues.length === 0) return read.plan;
    const wrong = first.text === "" ? [] : [{ role: "assistant" as const, content: first.text.slice(0, MAX_REPEATED) }];
    const again = [...messages, ...wrong, { role: "user" as const, content: asking(issues) }];
    const repaired = parseReply(await ask(input, { messages: again, schema, purpose: "repair" }));
    // A plan that was read and had flaws beats an answer that cannot be read at all.
    const plan = repaired.ok ? repaired.plan : read.ok ? read.plan : undefined;
    if (plan === undefined) {
      const found = repaired.ok ? issues : repaired.issues;
      throw plannerError("planner_failed", `The model gave no plan, asked twice: ${found.join(" ")}`, {
        details: { model: model.id, issues: found },
      });
    }
    return settled(plan, input);
  };

  async function ask(
    input: PlannerInput,
    { messages, schema, purpose }: { messages: readonly ChatMessage[]; schema: JsonSchema; purpose: string },
  ): Promise<Pick<ChatReply, "text" | "truncated">> {
    return await notedModel(model, { purpose, clock, note: input.note.modelCall }).generate({
      messages,
      schema,
      temperature: TEMPERATURE,
      maxOutputTokens: MAX_OUTPUT_TOKENS,
      ...(input.signal === undefined ? {} : { signal: input.signal }),
    });
  }
}

/** Shortened parts that a warning names. */
const MAX_NAMED = 5;

/** A model that said nothing that can be used is told so once, as for any other wrong answer. */
function emptyReply(thrown: unknown): Pick<ChatReply, "text" | "truncated"> {
  if (isErgonError(thrown) && thrown.code === "model_answer_invalid") return { text: "", truncated: false };
  throw thrown;
}

/** So much of a wrong answer is shown again with what was wrong with it. */
const MAX_REPEATED = 4_000;

function asking(issues: readonly string[]): string {
  const listed = issues.map((issue) => `- ${issue}`).join("\n");
  return `This answer cannot be used:\n${listed}\nAnswer again with ONLY the corrected JSON.`;
}

/** What is still wrong after the repair round: too many are cut, those that lack an argument are left out. */
async function settled(plan: readonly PlannedAction[], input: PlannerInput): Promise<PlannerAnswer> {
  const leftOut: string[] = [];
  const { lacking } = await checkPlan(plan, input);
  for (const [{ tool }, names] of lacking) {
    const message = `"${tool}" was left out: nobody knows its ${names.join(", ")}.`;
    input.note.warning({ code: "argument_unknown", message });
    leftOut.push(message);
  }
  const able = plan.filter((action) => !lacking.has(action));
  const working = able.filter(({ tool }) => tool !== FINALIZE_TOOL);
  if (working.length <= MAX_PLANNED_TOOLS) return { plan: able, leftOut };
  const message = `The plan had ${String(working.length)} tools; the first ${String(MAX_PLANNED_TOOLS)} are kept.`;
  input.note.warning({ code: "plan_cut", message });
  const kept = new Set(working.slice(0, MAX_PLANNED_TOOLS));
  const fitting = able.filter((action) => kept.has(action) || action.tool === FINALIZE_TOOL);
  return { plan: fitting, leftOut: [...leftOut, message] };
}

/** An object, since that is what structured outputs can be; the array is inside. */
function planSchema(tools: readonly Tool[]): JsonSchema {
  const ids = tools.map(({ id }) => id);
  const step = {
    type: "object",
    properties: {
      tool: ids.length > 0 ? { type: "string", enum: ids } : { type: "string" },
      args: { type: "object", additionalProperties: true },
      reason: { type: "string" },
      announcement: { type: "string" },
    },
    required: ["tool", "args"],
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: { steps: { type: "array", items: step } },
    required: ["steps"],
    additionalProperties: false,
  };
}
