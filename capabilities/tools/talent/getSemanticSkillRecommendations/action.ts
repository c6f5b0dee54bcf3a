import { defineAction, logAgentProgress, type ToolContext } from "@ergon/core";
import { z } from "zod";
import { limitArg, PersonArg, record, RoleArg, FRESH_MS, subjectOf, ThresholdArg } from "../shared/args.ts";
import { findPerson, findRole } from "../shared/find-one.ts";
import { prose } from "../shared/prose.ts";
import { downstream, listed, next } from "../shared/said.ts";
import { createTalentDatabase, type Match, type TalentDatabase } from "../shared/talent-database.ts";
import { answered, TalentError } from "../shared/talent-error.ts";
import { buildPrompt } from "./buildPrompt.ts";
import { learningPath, recommendSkills } from "./recommend-skills.ts";

/**
 * Recommends skills to learn, found by meaning.
 *
 * Purpose: goes beyond the list that a role has: skills whose meaning is near the role's purpose, or near what the
 * person said, without those that are held at their target level already.
 *
 * Inputs: `profileId` (an id or a name); `roleId` (the target; without it the person's present role); `useMessage`
 * (find skills near what was last said in the conversation instead of near the role); `threshold` and `limit` (10).
 *
 * Outputs: `data.recommendations` with current and target level, severity, similarity and priority, what the role asks
 * for first; `data.learningPath`, the shortest ways first; `chatResponse` is told by the model where there is one
 * (`promptDetails.told`). Errors: `person_not_found`, `person_ambiguous`,
 * `role_not_found`, `role_ambiguous`, `nothing_to_match`, `database_unavailable`.
 *
 * Example: `ergon tools call getSemanticSkillRecommendations --args '{"profileId":"Pavel Novak","roleId":"Cloud Engineer"}'`
 *
 * Related actions: getCapabilityGaps says which capabilities the skills are for; getDevelopmentPlan puts them in order.
 */
export const getSemanticSkillRecommendations = defineAction({
  id: "getSemanticSkillRecommendations",
  title: "Skills to learn, by meaning",
  description:
    "Recommends skills that a person should learn for a role, found by meaning, with priorities and a learning path.",
  applicableRoles: ["candidate", "hiring", "analyst", "general"],
  capabilityTags: ["talent", "skills", "learning"],
  tags: ["talent", "person", "role", "skills", "recommend", "learn", "courses", "training"],
  suggestedPrerequisites: ["getCapabilityGaps"],
  suggestedPostrequisites: ["getDevelopmentPlan"],
  usesAI: true,
  effects: "read",
  freshForMs: FRESH_MS,
  argsSchema: z.object({
    profileId: PersonArg,
    roleId: RoleArg.optional(),
    useMessage: z.boolean().default(false).describe("Find skills near the last message instead of near the role"),
    threshold: ThresholdArg,
    limit: limitArg(10),
  }),
  getDefaultArgs: subjectOf,
  actionFn: async ({ args, context, supabase, model }, run) =>
    answered(async () => {
      const database = createTalentDatabase(supabase, run.signal);
      const person = await findPerson(database, args.profileId);
      const asked = args.roleId ?? person.currentRoleId ?? undefined;
      const role = asked === undefined ? undefined : await findRole(database, asked);
      logAgentProgress(run, { phase: "match", message: `Looking for skills that help ${person.name}`, fraction: 0.2 });
      const matches = await matching(database, { roleId: role?.id, context, ...args });
      const required = role === undefined ? [] : ((await database.requiredSkills([role.id])).get(role.id) ?? []);
      const ids = [...new Set([...required.map(({ id }) => id), ...matches.map(({ id }) => id)])];
      const sources = {
        skills: await database.skills(ids),
        matches,
        required,
        held: await database.heldSkills(person.id),
      };
      const recommendations = recommendSkills(sources).slice(0, args.limit);
      const towards = role === undefined ? "what was asked" : role.title;
      const names = recommendations.map(({ name, current, target }) => `${name} (level ${current} to ${target})`);
      const dataSummary =
        recommendations.length === 0
          ? `${person.name} holds every skill that leads towards ${towards}.`
          : `Skills for ${person.name} towards ${towards}: ${listed(names)}.`;
      const data = {
        profileId: person.id,
        personName: person.name,
        ...(role === undefined ? {} : { roleId: role.id, roleTitle: role.title }),
        recommendations,
        learningPath: learningPath(recommendations),
      };
      return {
        success: true,
        message: dataSummary,
        data,
        chatResponse: await prose({
          model,
          context,
          run,
          computed: dataSummary,
          prompt: (modelId, asked) =>
            buildPrompt(modelId, asked, { personName: person.name, goal: towards }, recommendations),
        }),
        dataForDownstreamPrompt: downstream("getSemanticSkillRecommendations", dataSummary, data),
        nextActions:
          role === undefined
            ? []
            : [next("getDevelopmentPlan", `Plan how ${person.name} gets to ${role.title}`, "high")],
      };
    }),
});

type Wish = {
  readonly roleId: string | undefined;
  readonly context: ToolContext;
  readonly useMessage: boolean;
  readonly threshold?: number | undefined;
  readonly limit: number;
};

async function matching(database: TalentDatabase, wish: Wish): Promise<readonly Match[]> {
  const { roleId, context, useMessage, threshold, limit } = wish;
  if (!useMessage && roleId !== undefined) return database.matchSkillsForRole(roleId, { threshold, limit });
  const { model, vector } = record(context["embeddedMessage"]);
  if (typeof model === "string" && Array.isArray(vector)) {
    return database.matchSkillsForText({ model, vector: vector as readonly number[] }, { threshold, limit });
  }
  throw new TalentError("nothing_to_match", "Name a role: without one there is nothing that skills could be near to.");
}
