import type { CapabilityGaps } from "../shared/capability-gaps.ts";
import { isCritical, openGaps } from "../shared/capability-gaps.ts";
import type { Gap, Held } from "../shared/levels.ts";
import { listed } from "../shared/said.ts";
import type { TalentDatabase } from "../shared/talent-database.ts";

/** People who are asked whether they could teach: those most alike to the role. */
const MENTOR_POOL = 20;
const MENTORS_PER_GAP = 3;

type Mentor = {
  readonly profileId: string;
  readonly name: string;
  readonly level: number;
  readonly similarity: number;
};
type PlanItem = {
  readonly capabilityId: string;
  readonly capability: string;
  readonly from: number;
  readonly to: number;
  readonly severity: number;
  /** One for each level on the way. */
  readonly milestones: readonly { readonly level: number; readonly label: string; readonly indicator: string }[];
  /** What the person lacks of the skills that build it, the least held first. */
  readonly skills: readonly { readonly skillId: string; readonly name: string; readonly have: number }[];
  readonly mentors: readonly Mentor[];
};
export type Stage = { readonly title: string; readonly items: readonly PlanItem[] };

/** Critical gaps first, then the rest; each with the levels, the skills and the people on the way. */
export async function developmentPlan(database: TalentDatabase, found: CapabilityGaps): Promise<readonly Stage[]> {
  const open = openGaps(found);
  if (open.length === 0) return [];
  const ids = open.map(({ id }) => id);
  const levels = await database.levelsOf(ids);
  const building = await database.skillsBuilding(ids);
  const skills = await database.skills([...new Set(building.map(({ skill_id }) => skill_id))]);
  const held = await database.heldSkills(found.person.id);
  const mentors = await mentorsFor(database, found, open);
  const items = open.map((gap): PlanItem => {
    const own = building.filter(({ capability_id }) => capability_id === gap.id).map(({ skill_id }) => skill_id);
    return {
      capabilityId: gap.id,
      capability: gap.name,
      from: gap.have,
      to: gap.required,
      severity: gap.severity,
      milestones: levels
        .filter(({ capability_id, level }) => capability_id === gap.id && level > gap.have && level <= gap.required)
        .map(({ level, label, indicator }) => ({ level, label, indicator }))
        .sort((a, b) => a.level - b.level),
      skills: lacking(
        gap,
        skills.filter(({ id }) => own.includes(id)),
        held,
      ),
      mentors: mentors.get(gap.id) ?? [],
    };
  });
  const urgent = new Set(open.filter(isCritical).map(({ id }) => id));
  const stages = [
    { title: "First: what is critical", items: items.filter(({ capabilityId }) => urgent.has(capabilityId)) },
    { title: "Then: what is nearly there", items: items.filter(({ capabilityId }) => !urgent.has(capabilityId)) },
  ];
  return stages.filter((stage) => stage.items.length > 0);
}

/** What to learn first, in a sentence. */
export function describePlan({ person, role }: CapabilityGaps, stages: readonly Stage[]): string {
  const items = stages.flatMap((stage) => stage.items);
  const [first] = items;
  if (first === undefined)
    return `${person.name} needs no development plan for ${role.title}: every capability is met.`;
  const learning = first.skills.length === 0 ? "" : ` by learning ${listed(first.skills.map(({ name }) => name))}`;
  const [mentor] = first.mentors;
  const help = mentor === undefined ? "" : `; ${mentor.name} could mentor`;
  const after = items.slice(1).map(({ capability }) => capability);
  const rest = after.length === 0 ? "" : ` Then: ${listed(after)}.`;
  return `${person.name} should first build ${first.capability} from level ${first.from} to ${first.to}${learning}${help}.${rest}`;
}

function lacking(
  gap: Gap,
  skills: readonly { readonly id: string; readonly name: string }[],
  held: Held,
): PlanItem["skills"] {
  return skills
    .map(({ id, name }) => ({ skillId: id, name, have: held[id] ?? 0 }))
    .filter(({ have }) => have < gap.required)
    .sort((a, b) => a.have - b.have || (a.name < b.name ? -1 : 1));
}

/** By capability: people like the role who hold it at the level that is asked for. */
async function mentorsFor(
  database: TalentDatabase,
  { person, role }: CapabilityGaps,
  open: readonly Gap[],
): Promise<ReadonlyMap<string, readonly Mentor[]>> {
  const alike = (await database.matchPeopleForRole(role.id, { limit: MENTOR_POOL })).filter(
    ({ id }) => id !== person.id,
  );
  if (alike.length === 0) return new Map();
  const ids = alike.map(({ id }) => id);
  const people = await database.people(ids);
  const holders = await database.holders(
    ids,
    open.map(({ id }) => id),
  );
  return new Map(
    open.map((gap) => {
      const able = holders.filter(({ capability_id, level }) => capability_id === gap.id && level >= gap.required);
      const mentors = able
        .map(({ profile_id: profileId, level }) => ({
          profileId,
          name: people.find(({ id }) => id === profileId)?.name ?? profileId,
          level,
          similarity: alike.find(({ id }) => id === profileId)?.similarity ?? 0,
        }))
        .sort((a, b) => b.level - a.level || b.similarity - a.similarity);
      return [gap.id, mentors.slice(0, MENTORS_PER_GAP)];
    }),
  );
}
