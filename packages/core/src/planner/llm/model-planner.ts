import { plannerError } from "../../errors/planner.ts";
import type { ChatModel, ChatReply } from "../../ports/chat-model.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ChatMessage } from "../../schema/mcp-loop.ts";
import type { JsonSchema } from "../../schema/json.ts";
import type { PlannedAction } from "../../schema/mcp-loop.ts";
import { FINALIZE_TOOL } from "../compile-actions.ts";
import { MAX_PLANNED_TOOLS, type Planner, type PlannerInput } from "../planner.ts";
import { checkPlan } from "./check-plan.ts";
import { parseReply } from "./parse-reply.ts";
import { buildPlannerPrompt, type PlannerPrompt } from "./planner-prompt.ts";

/** Spec 1's settings. */
const TEMPERATURE = 0.3;
const MAX_OUTPUT_TOKENS = 1_000;

export type ModelPlannerDeps = {
  readonly model: ChatModel;
  readonly clock: Clock;
  readonly prompt?: PlannerPrompt;
};

/**
 * Spec 1's planner: the model chooses tools from a list. What it answers is read tolerantly and checked; if something
 * is wrong it is told so once, and what is still wrong after that is left out, cut or reported.
 */
export function createModelPlanner({ model, clock, prompt = buildPlannerPrompt }: ModelPlannerDeps): Planner {
  return async (input) => {
    const { system, user, truncated } = prompt(input, model.id);
    if (truncated.length > 0) {
      const message = `Parts of the context were shortened for the prompt: ${truncated.map(({ path }) => path).join(", ")}`;
      input.note.warning({ code: "prompt_truncated", message });
    }
    const messages: ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: user },
    ];
    const first = await ask(input, messages, "plan");
    const read = parseReply(first);
    const { issues } = read.ok ? await checkPlan(read.plan, input) : read;
    if (read.ok && issues.length === 0) return read.plan;
    const repaired = await ask(
      input,
      [
        ...messages,
        { role: "assistant", content: first.text.slice(0, MAX_REPEATED) },
        { role: "user", content: asking(issues) },
      ],
      "repair",
    );
    const again = parseReply(repaired);
    // A plan that was read and had flaws beats an answer that cannot be read at all.
    const plan = again.ok ? again.plan : read.ok ? read.plan : undefined;
    if (plan === undefined) {
      const found = again.ok ? issues : again.issues;
      throw plannerError("planner_failed", `The model gave no plan, asked twice: ${found.join(" ")}`, {
        details: { model: model.id, issues: found },
      });
    }
    return settled(plan, input);
  };

  async function ask(input: PlannerInput, messages: readonly ChatMessage[], purpose: string): Promise<ChatReply> {
    const startedMs = clock.monotonic();
    const call = {
      purpose,
      model: model.id,
      prompt: messages.map(({ role, content }) => `${role}: ${content}`).join("\n\n"),
    };
    try {
      const reply = await model.generate({
        messages,
        schema: planSchema(input),
        temperature: TEMPERATURE,
        maxOutputTokens: MAX_OUTPUT_TOKENS,
        ...(input.signal === undefined ? {} : { signal: input.signal }),
      });
      input.note.modelCall({ ...call, ms: clock.monotonic() - startedMs, usage: reply.usage, reply: reply.text });
      return reply;
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown.message : "unknown";
      input.note.modelCall({ ...call, ms: clock.monotonic() - startedMs, error });
      throw thrown;
    }
  }
}

/** So much of a wrong answer is shown again with what was wrong with it. */
const MAX_REPEATED = 4_000;

function asking(issues: readonly string[]): string {
  const listed = issues.map((issue) => `- ${issue}`).join("\n");
  return `This answer cannot be used:\n${listed}\nAnswer again with ONLY the corrected JSON array.`;
}

/** What is still wrong after the repair round: too many are cut, those that lack an argument are left out. */
async function settled(plan: readonly PlannedAction[], input: PlannerInput): Promise<readonly PlannedAction[]> {
  const { lacking } = await checkPlan(plan, input);
  for (const [{ tool }, names] of lacking) {
    const message = `"${tool}" was left out: nobody knows its ${names.join(", ")}.`;
    input.note.warning({ code: "argument_unknown", message });
  }
  const able = plan.filter((action) => !lacking.has(action));
  const working = able.filter(({ tool }) => tool !== FINALIZE_TOOL);
  if (working.length <= MAX_PLANNED_TOOLS) return able;
  const message = `The plan had ${String(working.length)} tools; the first ${String(MAX_PLANNED_TOOLS)} are kept.`;
  input.note.warning({ code: "plan_cut", message });
  const kept = new Set(working.slice(0, MAX_PLANNED_TOOLS));
  return able.filter((action) => kept.has(action) || action.tool === FINALIZE_TOOL);
}

const MAX_ENUM = 200;

/** An object, since that is what structured outputs can be; the array is inside. */
function planSchema({ tools }: PlannerInput): JsonSchema {
  const ids = tools.map(({ id }) => id);
  const step = {
    type: "object",
    properties: {
      tool: ids.length > 0 && ids.length <= MAX_ENUM ? { type: "string", enum: ids } : { type: "string" },
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
