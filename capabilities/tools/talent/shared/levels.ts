/** Levels run from 1 (foundation) to 5 (expert); 0 is not held. */
export type Held = Readonly<Record<string, number>>;

export type Requirement = { readonly id: string; readonly name: string; readonly required: number };

export type Gap = Requirement & {
  readonly have: number;
  readonly severity: number;
  readonly status: "missing" | "insufficient" | "met";
};

/** Above this a gap is critical. */
export const CRITICAL_SEVERITY = 70;

/** 100 when nothing is there, else what is lacking as a share of what is asked. */
export function severityOf(required: number, have: number): number {
  if (have <= 0) return 100;
  return have >= required ? 0 : ((required - have) / required) * 100;
}

/** The worst first; among equals what is asked at the higher level, then by name. */
export function gapsOf(requirements: readonly Requirement[], held: Held): readonly Gap[] {
  const gaps = requirements.map((requirement): Gap => {
    const have = held[requirement.id] ?? 0;
    const severity = severityOf(requirement.required, have);
    const status = severity === 0 ? "met" : have === 0 ? "missing" : "insufficient";
    return { ...requirement, have, severity, status };
  });
  return gaps.sort((a, b) => b.severity - a.severity || b.required - a.required || (a.name < b.name ? -1 : 1));
}

/** 100 less the mean severity; nobody can say how ready one is for what asks nothing. */
export function readinessOf(gaps: readonly Pick<Gap, "severity">[]): number | null {
  if (gaps.length === 0) return null;
  return 100 - gaps.reduce((sum, { severity }) => sum + severity, 0) / gaps.length;
}

/** How much of what is asked is met, where a part counts half: 0 to 1. */
export function coverageOf(gaps: readonly Pick<Gap, "status">[]): number | null {
  if (gaps.length === 0) return null;
  const points = gaps.reduce((sum, { status }) => sum + { met: 1, insufficient: 0.5, missing: 0 }[status], 0);
  return points / gaps.length;
}

/** 60% capabilities, 40% skills; one alone where the role asks nothing of the other. */
export function fitOf(capabilities: number | null, skills: number | null): number | null {
  if (capabilities === null || skills === null) return capabilities ?? skills;
  return 0.6 * capabilities + 0.4 * skills;
}

const BANDS = [
  [90, "ready now"],
  [75, "nearly ready"],
  [60, "within reach"],
  [40, "a stretch"],
  [0, "a long way off"],
] as const;
export type Band = (typeof BANDS)[number][1] | "unknown";

export function bandOf(score: number | null): Band {
  if (score === null) return "unknown";
  return BANDS.find(([from]) => score >= from)?.[1] ?? "a long way off";
}
