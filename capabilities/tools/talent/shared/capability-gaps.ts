import type { Person, RoleName } from "./find-one.ts";
import { findPerson, findRole } from "./find-one.ts";
import { bandOf, type Band, CRITICAL_SEVERITY, type Gap, gapsOf, readinessOf } from "./levels.ts";
import { describeGap, listed, percent } from "./said.ts";
import type { TalentDatabase } from "./talent-database.ts";

export type CapabilityGaps = {
  readonly person: Pick<Person, "id" | "name">;
  readonly role: Pick<RoleName, "id" | "title">;
  /** All of the role's capabilities, the worst first. */
  readonly gaps: readonly Gap[];
  readonly readiness: number | null;
  readonly band: Band;
};

/** How far a person is from a role. */
export async function capabilityGaps(
  database: TalentDatabase,
  asked: { readonly profileId: string; readonly roleId: string },
): Promise<CapabilityGaps> {
  const person = await findPerson(database, asked.profileId);
  const role = await findRole(database, asked.roleId);
  const required = await database.requiredCapabilities([role.id]);
  const gaps = gapsOf(required.get(role.id) ?? [], await database.heldCapabilities(person.id));
  const readiness = readinessOf(gaps);
  return { person, role, gaps, readiness, band: bandOf(readiness) };
}

export function openGaps({ gaps }: Pick<CapabilityGaps, "gaps">): readonly Gap[] {
  return gaps.filter(({ status }) => status !== "met");
}

export function isCritical({ severity }: Gap): boolean {
  return severity > CRITICAL_SEVERITY;
}

/** One or two sentences that name the person, the role and the figures. */
export function describeGaps(found: CapabilityGaps): string {
  const { person, role, gaps, readiness, band } = found;
  if (readiness === null) return `${role.title} asks for no capabilities yet, so nothing can be missing.`;
  const open = openGaps(found);
  const met = gaps.length - open.length;
  const ready = `${person.name} is ${percent(readiness)} ready for ${role.title} (${band})`;
  if (open.length === 0) return `${ready}: all ${gaps.length} capabilities are met.`;
  const missing = open.filter(({ status }) => status === "missing").map(describeGap);
  const low = open.filter(({ status }) => status === "insufficient").map(describeGap);
  const parts = [
    ...(missing.length === 0 ? [] : [`missing ${listed(missing)}`]),
    ...(low.length === 0 ? [] : [`below the level in ${listed(low)}`]),
  ];
  return `${ready}: ${parts.join("; ")}. ${met} of ${gaps.length} are met.`;
}
