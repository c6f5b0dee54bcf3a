import { defineAction, logAgentProgress } from "@ergon/core";
import { z } from "zod";
import { PersonArg, RoleArg, FRESH_MS, subjectOf } from "../shared/args.ts";
import { capabilityGaps, describeGaps, isCritical, openGaps } from "../shared/capability-gaps.ts";
import { downstream, next } from "../shared/said.ts";
import { createTalentDatabase } from "../shared/talent-database.ts";
import { answered } from "../shared/talent-error.ts";

/**
 * Compares what a person holds with what a role asks for, capability by capability.
 *
 * Purpose: says what is missing, what is held below the level, and how ready the person is. A gap's severity is 100
 * when the capability is not held, else (required - have) / required x 100; readiness is 100 less the mean severity.
 * Severities above 70 are critical.
 *
 * Inputs: `profileId` and `roleId`, each an id or a name (small slips are forgiven). Both default to what the
 * conversation is about (`context.profileId`, `context.roleId`, or what an earlier action found).
 *
 * Outputs: `data` with `readiness` (null for a role that asks nothing), `band`, and `gaps`, the worst first, each with
 * required and held level, severity and status `missing`, `insufficient` or `met`, and `foundAt`; the same in
 * `dataForDownstreamPrompt`, where getDevelopmentPlan finds it. Errors: `person_not_found`, `person_ambiguous`, `role_not_found`, `role_ambiguous`,
 * `database_unavailable`.
 *
 * Example: `ergon tools call getCapabilityGaps --args '{"profileId":"Amara Osei","roleId":"Data Engineer"}'`
 *
 * Related actions: getMatchingRolesForPerson finds the role; getSemanticSkillRecommendations and getDevelopmentPlan
 * say how to close the gaps.
 */
export const getCapabilityGaps = defineAction({
  id: "getCapabilityGaps",
  title: "Capability gaps of a person for a role",
  description:
    "Finds which capabilities a person is missing or holds below the level that a role requires, with severities and readiness.",
  applicableRoles: ["candidate", "hiring", "analyst", "general"],
  capabilityTags: ["talent", "capabilities", "gaps"],
  tags: ["talent", "person", "role", "missing", "gap", "readiness", "ready", "lacking", "fit"],
  suggestedPrerequisites: ["getMatchingRolesForPerson"],
  suggestedPostrequisites: ["getSemanticSkillRecommendations", "getDevelopmentPlan"],
  effects: "read",
  freshForMs: FRESH_MS,
  argsSchema: z.object({ profileId: PersonArg, roleId: RoleArg }),
  getDefaultArgs: subjectOf,
  actionFn: async ({ args, supabase }, run) =>
    answered(async () => {
      logAgentProgress(run, {
        phase: "compare",
        message: `Comparing ${args.profileId} with ${args.roleId}`,
        fraction: 0,
      });
      const found = await capabilityGaps(createTalentDatabase(supabase, run.signal), args);
      const { person, role, readiness, band } = found;
      const open = openGaps(found);
      const gaps = found.gaps.map((gap) => ({ ...gap, critical: isCritical(gap) }));
      const dataSummary = describeGaps(found);
      const subject = { profileId: person.id, personName: person.name, roleId: role.id, roleTitle: role.title };
      const foundAt = new Date().toISOString();
      const data = {
        ...subject,
        foundAt,
        readiness,
        band,
        gaps,
        criticalCount: gaps.filter(({ critical }) => critical).length,
      };
      return {
        success: true,
        message: dataSummary,
        data,
        chatResponse: { message: dataSummary },
        dataForDownstreamPrompt: downstream("getCapabilityGaps", dataSummary, data),
        nextActions:
          open.length === 0
            ? [next("getSuggestedCareerPaths", `See where ${person.name} could go from here`, "low")]
            : [
                next(
                  "getDevelopmentPlan",
                  `Plan how ${person.name} closes ${open.length} gaps for ${role.title}`,
                  "high",
                ),
                next("getSemanticSkillRecommendations", `Find skills that help towards ${role.title}`),
              ],
      };
    }),
});
