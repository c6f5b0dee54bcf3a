import { buildSafePrompt } from "@ergon/core";
import type { ProsePrompt } from "../shared/prose.ts";
import type { Recommendation } from "./recommend-skills.ts";

const TEMPERATURE = 0.4;
const MAX_OUTPUT_TOKENS = 400;
const SYSTEM = `You are a learning adviser who explains computed skill recommendations. Say which skills to learn first and
what each would bring, in the order of their priority. Use only what the data says: no invented courses, skills or levels.
Plain prose, at most 150 words, no headings.`;

/** The model sees skills, levels and priorities; ids and similarities stay inside. */
export function buildPrompt(
  model: string,
  asked: string,
  towards: { readonly personName: string; readonly goal: string },
  recommendations: readonly Recommendation[],
): ProsePrompt {
  return {
    safe: buildSafePrompt({
      model,
      system: SYSTEM,
      instructions: "Explain these recommendations to the person. If there is a message below, let the text answer it.",
      userText: asked,
      context: {
        person: towards.personName,
        goal: towards.goal,
        skills: recommendations.map(({ name, description, current, target, priority, required }) => ({
          name,
          description,
          currentLevel: current,
          targetLevel: target,
          priority,
          askedForByTheRole: required,
        })),
      },
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    }),
    temperature: TEMPERATURE,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  };
}
