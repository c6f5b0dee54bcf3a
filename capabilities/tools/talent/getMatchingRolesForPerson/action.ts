import { defineAction, logAgentProgress } from "@ergon/core";
import { z } from "zod";
import { limitArg, PersonArg, FRESH_MS, subjectOf, ThresholdArg } from "../shared/args.ts";
import { findPerson } from "../shared/find-one.ts";
import { bandOf } from "../shared/levels.ts";
import { holdingOf, roleFits } from "../shared/role-fit.ts";
import { downstream, listed, next, percent } from "../shared/said.ts";
import { createTalentDatabase } from "../shared/talent-database.ts";
import { answered } from "../shared/talent-error.ts";

/** The most that are looked at. */
const MAX_MATCHES = 50;

/**
 * Finds roles whose purpose is like what a person does, and says how well the person fits each.
 *
 * Purpose: a first look at where somebody could go. Roles are found by meaning (the person's profile against each
 * role's purpose, by vectors), then measured: fit is 60% capability readiness and 40% skill readiness.
 *
 * Inputs: `profileId` (an id or a name), `threshold` (how alike at least; without it what was measured for the
 * embedding model), `limit` (10). The person's present role is left out.
 *
 * Outputs: `data.matches`, the best fit first (last where a role asks for nothing that fit could be measured by), each
 * with similarity, fit, band and readiness; `data.withoutFit`, alike roles with a fit of 0%, which are no matches. The
 * first five of each are named in the message. Errors: `person_not_found`, `person_ambiguous`, `database_unavailable`.
 *
 * Example: `ergon tools call getMatchingRolesForPerson --args '{"profileId":"Amara Osei","limit":5}'`
 *
 * Related actions: getCapabilityGaps looks closely at one of the roles; getSuggestedCareerPaths goes two moves ahead.
 */
export const getMatchingRolesForPerson = defineAction({
  id: "getMatchingRolesForPerson",
  title: "Roles that match a person",
  description:
    "Finds roles that suit a person, by meaning, with how well the person's capabilities and skills fit each.",
  applicableRoles: ["candidate", "hiring", "analyst", "general"],
  capabilityTags: ["talent", "matching"],
  tags: ["talent", "person", "roles", "match", "suit", "jobs", "suitable", "similar"],
  suggestedPrerequisites: [],
  suggestedPostrequisites: ["getCapabilityGaps", "getSuggestedCareerPaths"],
  effects: "read",
  freshForMs: FRESH_MS,
  argsSchema: z.object({ profileId: PersonArg, threshold: ThresholdArg, limit: limitArg(10) }),
  getDefaultArgs: (context) => {
    const { profileId } = subjectOf(context);
    return profileId === undefined ? {} : { profileId };
  },
  actionFn: async ({ args, supabase }, run) =>
    answered(async () => {
      const database = createTalentDatabase(supabase, run.signal);
      const person = await findPerson(database, args.profileId);
      const found = await database.matchRolesForPerson(person.id, { threshold: args.threshold, limit: MAX_MATCHES });
      const near = found.filter(({ id }) => id !== person.currentRoleId);
      logAgentProgress(run, { phase: "measure", message: `Measuring ${String(near.length)} roles`, fraction: 0.5 });
      const ids = near.map(({ id }) => id);
      const roles = await database.roles(ids);
      const fitOf = await roleFits(database, ids);
      const holding = await holdingOf(database, person.id);
      const measured = near.flatMap(({ id, similarity }) => {
        const role = roles.find((one) => one.id === id);
        if (role === undefined) return [];
        const { fit, readiness, skillReadiness } = fitOf(id, holding);
        const { title, grade_band: grade, division } = role;
        return [{ roleId: id, title, grade, division, similarity, fit, band: bandOf(fit), readiness, skillReadiness }];
      });
      const matches = measured
        .filter(({ fit }) => !isNone(fit))
        .sort((a, b) => (b.fit ?? 0) - (a.fit ?? 0))
        .slice(0, args.limit);
      const withoutFit = measured
        .filter(({ fit }) => isNone(fit))
        .slice(0, args.limit)
        .map(({ roleId, title, similarity }) => ({ roleId, title, similarity }));
      const dataSummary = summaryOf(person.name, matches, withoutFit);
      const [threshold = args.threshold ?? null] = found.map((match) => match.threshold);
      const data = { profileId: person.id, personName: person.name, threshold, matches, withoutFit };
      const [best] = matches;
      return {
        success: true,
        message: dataSummary,
        data,
        chatResponse: { message: dataSummary },
        dataForDownstreamPrompt: downstream("getMatchingRolesForPerson", dataSummary, data),
        nextActions:
          best === undefined
            ? []
            : [next("getCapabilityGaps", `See what ${person.name} lacks for ${best.title}`, "high")],
      };
    }),
});

/** Whether a measured fit reads as 0%. */
function isNone(fit: number | null): boolean {
  return fit !== null && percent(fit) === "0%";
}

type Titled = { readonly title: string };

function summaryOf(
  name: string,
  matches: readonly (Titled & { readonly fit: number | null })[],
  withoutFit: readonly Titled[],
): string {
  if (matches.length + withoutFit.length === 0) return `No role is like the profile of ${name}.`;
  const named = matches.map(({ title, fit }) => (fit === null ? title : `${title} (fit ${percent(fit)})`));
  const first = matches.length === 0 ? `No role matches ${name}.` : `Roles that match ${name}: ${listed(named)}.`;
  if (withoutFit.length === 0) return first;
  return `${first} Alike, but with a fit of 0%: ${listed(withoutFit.map(({ title }) => title))}.`;
}
