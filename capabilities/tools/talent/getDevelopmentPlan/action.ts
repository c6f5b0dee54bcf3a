import { defineAction, logAgentProgress } from "@ergon/core";
import { z } from "zod";
import { PersonArg, RoleArg, FRESH_MS, subjectOf } from "../shared/args.ts";
import { capabilityGaps } from "../shared/capability-gaps.ts";
import { knownGaps } from "../shared/known-gaps.ts";
import { prose } from "../shared/prose.ts";
import { downstream, next } from "../shared/said.ts";
import { createTalentDatabase } from "../shared/talent-database.ts";
import { answered } from "../shared/talent-error.ts";
import { buildPrompt } from "./buildPrompt.ts";
import { describePlan, developmentPlan } from "./development-plan.ts";

/**
 * Plans how a person gets from where they are to what a role asks for.
 *
 * Purpose: turns capability gaps into stages, critical ones first, each with the levels on the way and what marks them,
 * the skills that build it and that the person lacks, and colleagues who could mentor.
 *
 * Inputs: `profileId` and `roleId`, each an id or a name; both default to what the conversation is about.
 *
 * Outputs: `data` with `readiness` and `stages`, each item with `from`, `to`, `milestones`, `skills` and `mentors`; the
 * same in `dataForDownstreamPrompt`. No stages when everything is met. `chatResponse` is the plan in the model's words
 * where there is a model, else what was computed; its `promptDetails.told` says which. Gaps that getCapabilityGaps found a
 * moment ago are used again, and `actionsTaken` says so. Errors as in getCapabilityGaps.
 *
 * Example: `ergon tools call getDevelopmentPlan --args '{"profileId":"amara-osei","roleId":"data-engineer"}'`
 *
 * Related actions: getCapabilityGaps gives the gaps alone; getSemanticSkillRecommendations goes deeper into skills.
 */
export const getDevelopmentPlan = defineAction({
  id: "getDevelopmentPlan",
  title: "Development plan towards a role",
  description:
    "Plans what a person should learn first and next to become ready for a role: stages, milestones, skills and mentors.",
  applicableRoles: ["candidate", "hiring", "analyst", "general"],
  capabilityTags: ["talent", "development", "learning"],
  tags: ["talent", "person", "role", "plan", "learn", "first", "develop", "mentor", "training", "steps"],
  suggestedPrerequisites: ["getCapabilityGaps", "getSemanticSkillRecommendations"],
  suggestedPostrequisites: [],
  usesAI: true,
  effects: "read",
  freshForMs: FRESH_MS,
  argsSchema: z.object({ profileId: PersonArg, roleId: RoleArg }),
  getDefaultArgs: subjectOf,
  actionFn: async ({ args, context, supabase, model }, run) =>
    answered(async () => {
      const database = createTalentDatabase(supabase, run.signal);
      const known = knownGaps(context, args, Date.now());
      const found = known ?? (await capabilityGaps(database, args));
      logAgentProgress(run, { phase: "plan", message: `Planning the way to ${found.role.title}`, fraction: 0.5 });
      const stages = await developmentPlan(database, found);
      const { person, role, readiness, band } = found;
      const dataSummary = describePlan(found, stages);
      const subject = { profileId: person.id, personName: person.name, roleId: role.id, roleTitle: role.title };
      const data = { ...subject, readiness, band, stages };
      return {
        success: true,
        message: dataSummary,
        data,
        chatResponse: await prose({
          model,
          context,
          run,
          computed: dataSummary,
          prompt: (modelId, asked) => buildPrompt(modelId, asked, found, stages),
        }),
        ...(known === undefined ? {} : { actionsTaken: [reused(known.foundAt)] }),
        dataForDownstreamPrompt: downstream("getDevelopmentPlan", dataSummary, data),
        nextActions: [next("getSemanticSkillRecommendations", `Find more skills that help towards ${role.title}`)],
      };
    }),
});

function reused(foundAt: string) {
  const reason = "What it found earlier in this conversation is used again.";
  return { tool: "getCapabilityGaps", reason, timestamp: foundAt };
}
