import type { ToolContext } from "@ergon/core";
import { z } from "zod";
import { FRESH_MS, record } from "./args.ts";
import type { CapabilityGaps } from "./capability-gaps.ts";
import { bandOf } from "./levels.ts";

const Known = z.object({
  foundAt: z.iso.datetime(),
  profileId: z.string(),
  personName: z.string(),
  roleId: z.string(),
  roleTitle: z.string(),
  readiness: z.number().nullable(),
  gaps: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      required: z.number(),
      have: z.number(),
      severity: z.number(),
      status: z.enum(["missing", "insufficient", "met"]),
    }),
  ),
});

/** What getCapabilityGaps found in this conversation for the same person and role, while it is fresh. */
export function knownGaps(
  context: ToolContext,
  asked: { readonly profileId: string; readonly roleId: string },
  nowMs: number,
): (CapabilityGaps & { readonly foundAt: string }) | undefined {
  const left = record(record(context["downstreamData"])["getCapabilityGaps"]);
  const known = Known.safeParse(left["structured"]);
  if (!known.success) return undefined;
  const { foundAt, profileId, personName, roleId, roleTitle, readiness, gaps } = known.data;
  const ageMs = nowMs - Date.parse(foundAt);
  const isSame = names(asked.profileId, profileId, personName) && names(asked.roleId, roleId, roleTitle);
  if (!isSame || ageMs < 0 || ageMs > FRESH_MS) return undefined;
  const person = { id: profileId, name: personName };
  return { person, role: { id: roleId, title: roleTitle }, gaps, readiness, band: bandOf(readiness), foundAt };
}

function names(asked: string, id: string, name: string): boolean {
  return asked === id || asked.toLowerCase() === name.toLowerCase();
}
