import { buildSafePrompt } from "@ergon/core";
import type { ProsePrompt } from "../shared/prose.ts";
import type { CareerPath, Move } from "./career-paths.ts";

const TEMPERATURE = 0.4;
const MAX_OUTPUT_TOKENS = 400;
const SYSTEM = `You are a career coach who explains computed career paths. Compare the paths, say what speaks for each and
what would have to grow, and name one to begin with. Use only what the data says: no invented roles, people or figures.
Plain prose, at most 150 words, no headings.`;

/** The model sees titles and how well each move fits; ids stay inside. */
export function buildPrompt(
  model: string,
  asked: string,
  person: { readonly name: string },
  paths: readonly CareerPath[],
): ProsePrompt {
  return {
    safe: buildSafePrompt({
      model,
      system: SYSTEM,
      instructions: "Explain these paths to the person. If there is a message below, let the text answer it.",
      userText: asked,
      context: {
        person: person.name,
        paths: paths.map(({ first, second }) => ({
          first: shown(first),
          second: second === null ? null : shown(second),
        })),
      },
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    }),
    temperature: TEMPERATURE,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  };
}

function shown({ title, grade, kind, score, capabilityCoverage, skillCoverage }: Move) {
  const percent = (share: number): number => Math.round(100 * share);
  return {
    title,
    grade,
    kind,
    scorePercent: percent(score),
    capabilitiesMetPercent: percent(capabilityCoverage),
    skillsMetPercent: percent(skillCoverage),
  };
}
