import { coverageOf, fitOf, type Gap, gapsOf, type Held, readinessOf } from "./levels.ts";
import type { TalentDatabase } from "./talent-database.ts";

export type RoleFit = {
  readonly capabilityGaps: readonly Gap[];
  readonly skillGaps: readonly Gap[];
  readonly readiness: number | null;
  readonly skillReadiness: number | null;
  /** 60% capabilities, 40% skills. */
  readonly fit: number | null;
  readonly capabilityCoverage: number | null;
  readonly skillCoverage: number | null;
};

/** What somebody holds, of capabilities and of skills. */
export type Holding = { readonly capabilities: Held; readonly skills: Held };

/** How what somebody holds fits each of some roles. */
export async function roleFits(
  database: TalentDatabase,
  roleIds: readonly string[],
): Promise<(roleId: string, holding: Holding) => RoleFit> {
  const capabilities = await database.requiredCapabilities(roleIds);
  const skills = await database.requiredSkills(roleIds);
  return (roleId, holding) => {
    const capabilityGaps = gapsOf(capabilities.get(roleId) ?? [], holding.capabilities);
    const skillGaps = gapsOf(skills.get(roleId) ?? [], holding.skills);
    const readiness = readinessOf(capabilityGaps);
    const skillReadiness = readinessOf(skillGaps);
    return {
      capabilityGaps,
      skillGaps,
      readiness,
      skillReadiness,
      fit: fitOf(readiness, skillReadiness),
      capabilityCoverage: coverageOf(capabilityGaps),
      skillCoverage: coverageOf(skillGaps),
    };
  };
}

export async function holdingOf(database: TalentDatabase, profileId: string): Promise<Holding> {
  return { capabilities: await database.heldCapabilities(profileId), skills: await database.heldSkills(profileId) };
}
