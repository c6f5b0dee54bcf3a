import { defineAction, logAgentProgress } from "@ergon/core";
import { z } from "zod";
import { limitArg, PersonArg, FRESH_MS, subjectOf, ThresholdArg } from "../shared/args.ts";
import { findPerson } from "../shared/find-one.ts";
import { prose } from "../shared/prose.ts";
import { holdingOf, roleFits } from "../shared/role-fit.ts";
import { downstream, listed, next, percent } from "../shared/said.ts";
import { createTalentDatabase } from "../shared/talent-database.ts";
import { answered } from "../shared/talent-error.ts";
import { buildPrompt } from "./buildPrompt.ts";
import { type CareerPath, grownInto, movesFrom } from "./career-paths.ts";

/** Roles that are looked at for one move. */
const MAX_MOVES = 50;

/**
 * Suggests where a person could go, two moves ahead.
 *
 * Purpose: ranks the moves from where a person stands by 40% meaning, 40% capabilities and 20% skills, where something
 * held below its level counts half; then looks from each of the best at the promotion that would follow, as if the
 * person had grown into it.
 *
 * Inputs: `profileId` (an id or a name), `threshold` (how alike a next role must be at least; without it what was
 * measured for the embedding model), `limit` (5).
 *
 * Outputs: `data.paths`, the best first, each with `first` and `second` move (null where no promotion follows) and
 * their scores from 0 to 1; `chatResponse` is told by the model where there is one (`promptDetails.told`). Errors: `person_not_found`, `person_ambiguous`, `database_unavailable`.
 *
 * Example: `ergon tools call getSuggestedCareerPaths --args '{"profileId":"Pavel Novak"}'`
 *
 * Related actions: getCapabilityGaps and getDevelopmentPlan prepare the first move. Its name was once spelt
 * getSuggestedCaereerPaths; that still works.
 */
export const getSuggestedCareerPaths = defineAction({
  id: "getSuggestedCareerPaths",
  aliases: ["getSuggestedCaereerPaths"],
  title: "Career paths for a person",
  description: "Suggests career paths for a person: the next roles and the promotions that could follow, with scores.",
  applicableRoles: ["candidate", "hiring", "analyst", "general"],
  capabilityTags: ["talent", "careers"],
  tags: ["talent", "person", "career", "path", "next", "promotion", "future", "move", "grow"],
  suggestedPrerequisites: [],
  suggestedPostrequisites: ["getCapabilityGaps", "getDevelopmentPlan"],
  usesAI: true,
  effects: "read",
  freshForMs: FRESH_MS,
  argsSchema: z.object({ profileId: PersonArg, threshold: ThresholdArg, limit: limitArg(5) }),
  getDefaultArgs: (context) => {
    const { profileId } = subjectOf(context);
    return profileId === undefined ? {} : { profileId };
  },
  actionFn: async ({ args, context, supabase, model }, run) =>
    answered(async () => {
      const database = createTalentDatabase(supabase, run.signal);
      const person = await findPerson(database, args.profileId);
      const { threshold, limit } = args;
      const roles = new Map((await database.roles()).map((role) => [role.id, role]));
      const fitOf = await roleFits(database, [...roles.keys()]);
      const holding = await holdingOf(database, person.id);
      const here = person.currentRoleId;
      const grade = here === null ? undefined : roles.get(here)?.grade_band;
      const near = await database.matchRolesForPerson(person.id, { threshold, limit: MAX_MOVES });
      const around = { roles, fitOf };
      const away = near.filter(({ id }) => id !== here);
      const firsts = movesFrom({ ...around, grade, holding, matches: away }).slice(0, limit);
      const paths: CareerPath[] = [];
      for (const first of firsts) {
        const onward = await database.matchRolesForRole(first.roleId, { limit: MAX_MOVES });
        const grown = grownInto(holding, fitOf(first.roleId, holding));
        const further = movesFrom({ ...around, grade: first.grade, holding: grown, matches: onward });
        const second = further.find(({ roleId, kind }) => kind === "promotion" && roleId !== here) ?? null;
        paths.push({ first, second, score: first.score });
        const fraction = paths.length / firsts.length;
        logAgentProgress(run, { phase: "look ahead", message: `Looked on from ${first.title}`, fraction });
      }
      const shown = paths.map(({ first, second, score }) =>
        second === null
          ? `${first.title} (${percent(100 * score)})`
          : `${first.title} (${percent(100 * score)}) then ${second.title}`,
      );
      const dataSummary =
        paths.length === 0
          ? `No next role is like the profile of ${person.name}.`
          : `Paths for ${person.name}: ${listed(shown)}.`;
      const data = { profileId: person.id, personName: person.name, currentRoleId: here, paths };
      const [best] = paths;
      return {
        success: true,
        message: dataSummary,
        data,
        chatResponse: await prose({
          model,
          context,
          run,
          computed: dataSummary,
          prompt: (modelId, asked) => buildPrompt(modelId, asked, person, paths),
        }),
        dataForDownstreamPrompt: downstream("getSuggestedCareerPaths", dataSummary, data),
        nextActions:
          best === undefined
            ? []
            : [next("getCapabilityGaps", `See what ${person.name} lacks for ${best.first.title}`, "high")],
      };
    }),
});
