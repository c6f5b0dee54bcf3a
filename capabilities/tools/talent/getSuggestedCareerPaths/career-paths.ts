import { fitOf } from "../shared/levels.ts";
import type { Holding, RoleFit } from "../shared/role-fit.ts";
import type { Match, Role } from "../shared/talent-database.ts";

export type Move = {
  readonly roleId: string;
  readonly title: string;
  readonly grade: string;
  readonly kind: "promotion" | "sideways" | "step back";
  readonly score: number;
  readonly similarity: number;
  readonly capabilityCoverage: number;
  readonly skillCoverage: number;
};
export type CareerPath = { readonly first: Move; readonly second: Move | null; readonly score: number };

/** 40% meaning, 40% capabilities, 20% skills, each from 0 to 1; what a role does not ask for counts as met. */
function moveScore(similarity: number, fit: Pick<RoleFit, "capabilityCoverage" | "skillCoverage">): number {
  return 0.4 * similarity + 0.4 * (fit.capabilityCoverage ?? 1) + 0.2 * (fit.skillCoverage ?? 1);
}

export type MoveFrom = {
  /** Where somebody stands; without it no move is up or down. */
  readonly grade: string | undefined;
  readonly holding: Holding;
  readonly matches: readonly Match[];
  readonly roles: ReadonlyMap<string, Role>;
  readonly fitOf: (roleId: string, holding: Holding) => RoleFit;
};

/** The moves from here, the best first. Roles that ask for nothing are no step on a path. */
export function movesFrom({ grade, holding, matches, roles, fitOf: fits }: MoveFrom): readonly Move[] {
  const moves = matches.flatMap(({ id, similarity }): Move[] => {
    const role = roles.get(id);
    const fit = fits(id, holding);
    if (role === undefined || fitOf(fit.readiness, fit.skillReadiness) === null) return [];
    return [
      {
        roleId: id,
        title: role.title,
        grade: role.grade_band,
        kind: kindOf(grade ?? role.grade_band, role.grade_band),
        score: moveScore(similarity, fit),
        similarity,
        capabilityCoverage: fit.capabilityCoverage ?? 1,
        skillCoverage: fit.skillCoverage ?? 1,
      },
    ];
  });
  return moves.sort((a, b) => b.score - a.score || (a.title < b.title ? -1 : 1));
}

/** What somebody holds once they have grown into a role: what they had, and at least what the role asks for. */
export function grownInto(holding: Holding, fit: RoleFit): Holding {
  const grow = (held: Holding["skills"], gaps: RoleFit["skillGaps"]) => ({
    ...held,
    ...Object.fromEntries(gaps.map(({ id, required, have }) => [id, Math.max(required, have)])),
  });
  return { capabilities: grow(holding.capabilities, fit.capabilityGaps), skills: grow(holding.skills, fit.skillGaps) };
}

function kindOf(from: string, to: string): Move["kind"] {
  if (to === from) return "sideways";
  return to > from ? "promotion" : "step back";
}
