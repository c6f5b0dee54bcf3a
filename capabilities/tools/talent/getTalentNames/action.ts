import { defineAction } from "@ergon/core";
import { z } from "zod";
import { downstream } from "../shared/said.ts";
import { createTalentDatabase } from "../shared/talent-database.ts";
import { answered } from "../shared/talent-error.ts";

/**
 * Lists the people and the roles that there are, by name.
 *
 * Purpose: lets a planner recognise whom and what a message names (its tag `entity-source` says so), and answers who
 * and which roles there are.
 *
 * Inputs: none.
 *
 * Outputs: `data.entities`, each with `kind` (`profile` or `role`), `id` and `name`; `data.kinds`, the words of this field
 * for each kind; their counts in `dataForDownstreamPrompt`. Errors: `database_unavailable`.
 *
 * Example: `ergon tools call getTalentNames`
 *
 * Related actions: every other action of this pack takes one of these ids or names.
 */
export const getTalentNames = defineAction({
  id: "getTalentNames",
  title: "Names of people and roles",
  description: "Lists the names of all people in the workforce and the titles of all roles.",
  capabilityTags: ["talent"],
  tags: ["talent", "entity-source", "people", "names", "everyone"],
  suggestedPostrequisites: ["getMatchingRolesForPerson", "getCapabilityGaps"],
  effects: "read",
  argsSchema: z.object({}),
  actionFn: async ({ supabase }, { signal }) =>
    answered(async () => {
      const { profiles, roles } = await createTalentDatabase(supabase, signal).named();
      const entities = [
        ...profiles.map(({ id, name }) => ({ kind: "profile", id, name })),
        ...roles.map(({ id, title }) => ({ kind: "role", id, name: title })),
      ];
      const dataSummary = `There are ${String(profiles.length)} people and ${String(roles.length)} roles.`;
      const counts = { people: profiles.length, roles: roles.length };
      return {
        success: true,
        message: dataSummary,
        data: { entities, kinds: KINDS },
        chatResponse: { message: dataSummary },
        dataForDownstreamPrompt: downstream("getTalentNames", dataSummary, counts),
      };
    }),
});

/** What arguments of tools call a profile or a role, and the verbs that change one: no tool of this pack does. */
const KINDS = {
  profile: { aliases: ["person", "people", "who", "employee", "candidate"], verbs: ["hire", "fire", "promote"] },
  role: { aliases: ["job", "position"] },
};
