import type { ActionResponse } from "@ergon/core";
import type { Gap } from "./levels.ts";

/** Entries that a summary names; the rest is counted. */
const NAMED = 5;

export function percent(value: number): string {
  return `${Math.round(value)}%`;
}

/** "A, B and 3 more". */
export function listed(items: readonly string[], most = NAMED): string {
  const named = items.slice(0, most);
  const rest = items.length - named.length;
  if (rest > 0) return `${named.join(", ")} and ${rest} more`;
  const last = named.at(-1);
  return named.length < 2 ? named.join("") : `${named.slice(0, -1).join(", ")} and ${last}`;
}

/** "Cloud Operations (missing, needs 3)". */
export function describeGap({ name, have, required, status }: Gap): string {
  return status === "missing"
    ? `${name} (not held, needs level ${required})`
    : `${name} (level ${have} of ${required})`;
}

type Downstream = NonNullable<ActionResponse["dataForDownstreamPrompt"]>;

/** What an action leaves for the prompts of those that follow. */
export function downstream(
  actionId: string,
  dataSummary: string,
  structured: Downstream[string]["structured"],
): Downstream {
  return { [actionId]: { dataSummary, structured, truncated: false } };
}

type NextActions = NonNullable<ActionResponse["nextActions"]>;

export function next(
  type: string,
  description: string,
  priority: "high" | "medium" | "low" = "medium",
): NextActions[number] {
  return { type, description, priority };
}
