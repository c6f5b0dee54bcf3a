import type { Held, Requirement } from "../shared/levels.ts";
import { severityOf } from "../shared/levels.ts";
import type { Match, Skill } from "../shared/talent-database.ts";

/** What a skill is learnt to, where the role does not say: Intermediate. */
const DEFAULT_TARGET = 2;
const HIGH_SEVERITY = 70;

export type Recommendation = {
  readonly skillId: string;
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly current: number;
  readonly target: number;
  readonly severity: number;
  /** Null for what the role asks for but which is not like its purpose. */
  readonly similarity: number | null;
  readonly required: boolean;
  readonly priority: "high" | "medium" | "low";
};

export type SkillSources = {
  readonly skills: readonly Skill[];
  readonly matches: readonly Match[];
  readonly required: readonly Requirement[];
  readonly held: Held;
};

/** What is asked for or alike, without what is held at its target; what is asked for first, then the most alike. */
export function recommendSkills({ skills, matches, required, held }: SkillSources): readonly Recommendation[] {
  const asked = new Map(required.map((one) => [one.id, one.required]));
  const alike = new Map(matches.map(({ id, similarity }) => [id, similarity]));
  const recommended = skills.flatMap(({ id, name, category, description }): Recommendation[] => {
    const current = held[id] ?? 0;
    const target = asked.get(id) ?? DEFAULT_TARGET;
    if (current >= target) return [];
    const isAsked = asked.has(id);
    const severity = severityOf(target, current);
    const priority = !isAsked ? "low" : severity > HIGH_SEVERITY ? "high" : "medium";
    const similarity = alike.get(id) ?? null;
    return [
      { skillId: id, name, category, description, current, target, severity, similarity, required: isAsked, priority },
    ];
  });
  return recommended.sort(
    (a, b) =>
      Number(b.required) - Number(a.required) ||
      (a.required ? b.severity - a.severity : 0) ||
      (b.similarity ?? 0) - (a.similarity ?? 0) ||
      (a.name < b.name ? -1 : 1),
  );
}

/** In which order to learn: what builds on something that is there already comes first. */
export function learningPath(recommended: readonly Recommendation[]): readonly string[] {
  return recommended
    .toSorted((a, b) => a.target - a.current - (b.target - b.current) || b.current - a.current)
    .map(({ name, current, target }) => `${name}: level ${current} to ${target}`);
}
