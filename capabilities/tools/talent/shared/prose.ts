import {
  type ActionResponse,
  type ChatModel,
  logAgentProgress,
  type SafePrompt,
  type ToolContext,
  type ToolRun,
} from "@ergon/core";
import { z } from "zod";

/** A prompt with the settings that it is meant for. */
export type ProsePrompt = {
  readonly safe: SafePrompt;
  readonly temperature: number;
  readonly maxOutputTokens: number;
};

/** Words are worth waiting for only so long: what was computed is there already. */
const MAX_PROSE_MS = 20_000;

/**
 * What an action says to the person: in the model's words where there is a model, else what was computed.
 * `promptDetails.told` says which of the two it is, and why.
 */
export async function prose(parts: {
  readonly model: ChatModel | undefined;
  readonly context: ToolContext;
  readonly run: Pick<ToolRun, "signal" | "logger" | "progress">;
  readonly computed: string;
  readonly prompt: (modelId: string, asked: string) => ProsePrompt;
}): Promise<NonNullable<ActionResponse["chatResponse"]>> {
  const { model, context, run, computed, prompt } = parts;
  const plainly = (reason: string) => ({ message: computed, promptDetails: { told: "computed", reason } });
  if (model === undefined) return plainly("no model is set");
  // Then a model tells all findings together, and telling each apart would be paid twice.
  if (isSummedUp(context)) return plainly("the turn's summary tells it");
  const asked = context["lastMessage"];
  const { safe, temperature, maxOutputTokens } = prompt(model.id, typeof asked === "string" ? asked : "");
  logAgentProgress(run, { phase: "tell", message: "Putting it into words", data: { model: model.id } });
  try {
    const { text, truncated } = await model.generate({
      messages: [
        { role: "system", content: safe.system },
        { role: "user", content: safe.user },
      ],
      temperature,
      maxOutputTokens,
      timeoutMs: MAX_PROSE_MS,
      signal: run.signal,
    });
    const shortened = safe.truncated.map(({ path }) => path);
    const promptDetails = { told: "model", model: model.id, temperature, maxOutputTokens, truncated, shortened };
    return { message: text.trim(), promptDetails };
  } catch (thrown) {
    if (run.signal.aborted) throw thrown;
    const reason = thrown instanceof Error ? thrown.message : "it failed";
    run.logger.warn({ model: model.id, reason }, "The model did not put it into words; what was computed is given.");
    return plainly(`the model did not answer: ${reason}`);
  }
}

const Planned = z.array(z.object({ tool: z.string() }));

function isSummedUp(context: ToolContext): boolean {
  return Planned.safeParse(context["plannedTools"]).data?.some(({ tool }) => tool === "finalize_summary") ?? false;
}
