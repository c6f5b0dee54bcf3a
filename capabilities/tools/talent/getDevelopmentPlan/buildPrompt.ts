import { buildSafePrompt } from "@ergon/core";
import type { CapabilityGaps } from "../shared/capability-gaps.ts";
import type { ProsePrompt } from "../shared/prose.ts";
import type { Stage } from "./development-plan.ts";

const TEMPERATURE = 0.4;
const MAX_OUTPUT_TOKENS = 500;
const SYSTEM = `You are a career coach who turns a computed development plan into a short, encouraging text. Say what to
learn first and why, then what follows, with the milestones and the colleagues who could mentor. Use only what the data
says: no invented courses, people, dates or levels. Plain prose, at most 200 words, no headings.`;

/** The model sees names and levels; ids, similarities and everything else of the session stay inside. */
export function buildPrompt(
  model: string,
  asked: string,
  { person, role, readiness }: CapabilityGaps,
  stages: readonly Stage[],
): ProsePrompt {
  const plan = stages.map(({ title, items }) => ({
    stage: title,
    steps: items.map(({ capability, from, to, milestones, skills, mentors }) => ({
      capability,
      fromLevel: from,
      toLevel: to,
      milestones: milestones.map(({ label, indicator }) => `${label}: ${indicator}`),
      skillsToLearn: skills.map(({ name }) => name),
      mentors: mentors.map(({ name }) => name),
    })),
  }));
  return {
    safe: buildSafePrompt({
      model,
      system: SYSTEM,
      instructions: "Write the text for this person. If there is a message below, let the text answer it.",
      userText: asked,
      context: { person: person.name, role: role.title, readinessPercent: readiness, plan },
      maxOutputTokens: MAX_OUTPUT_TOKENS,
    }),
    temperature: TEMPERATURE,
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  };
}
