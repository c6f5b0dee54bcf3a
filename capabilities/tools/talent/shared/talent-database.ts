import type { SupabaseClient } from "@supabase/supabase-js";
import type { Database } from "./database-types.ts";
import type { Held, Requirement } from "./levels.ts";
import { TalentError } from "./talent-error.ts";

type Tables = Database["public"]["Tables"];
type Functions = Database["public"]["Functions"];
type Row<Name extends keyof Tables> = Tables[Name]["Row"];

export type TalentClient = SupabaseClient<Database>;
export type Role = Pick<Row<"roles">, "id" | "title" | "grade_band" | "division" | "primary_purpose">;
export type Skill = Pick<Row<"skills">, "id" | "name" | "category" | "description">;
export type Match = Functions["match_roles_for_profile"]["Returns"][number];
export type MatchQuery = { readonly threshold?: number | undefined; readonly limit: number };

/** Rows that one question may bring; a catalogue beyond it is answered by its beginning. */
const MAX_ROWS = 1_000;

/** What the actions ask of the tables. Whatever the database refuses comes out as `database_unavailable`. */
export type TalentDatabase = ReturnType<typeof createTalentDatabase>;

export function createTalentDatabase(supabase: unknown, signal?: AbortSignal) {
  const client = clientFrom(supabase);
  const aborts = <T extends { abortSignal(signal: AbortSignal): T }>(query: T): T =>
    signal === undefined ? query : query.abortSignal(signal);
  const names = async (table: "capabilities" | "skills", ids: readonly string[]): Promise<Map<string, string>> => {
    if (ids.length === 0) return new Map();
    const rows = taken(await aborts(client.from(table).select("id, name").in("id", ids).limit(MAX_ROWS)));
    return new Map(rows.map(({ id, name }) => [id, name]));
  };
  const matching = (min: number | undefined, max: number) => ({
    ...(min === undefined ? {} : { min_similarity: min }),
    max_results: max,
  });

  return {
    findPeople: async (query: string) => taken(await aborts(client.rpc("find_people", { query }))),
    findRoles: async (query: string) => taken(await aborts(client.rpc("find_roles", { query }))),

    roles: async (ids?: readonly string[]): Promise<readonly Role[]> => {
      const query = client.from("roles").select("id, title, grade_band, division, primary_purpose");
      return taken(await aborts((ids === undefined ? query : query.in("id", ids)).order("id").limit(MAX_ROWS)));
    },
    /** Everybody and everything that people call by name. */
    named: async () => {
      const list = <T>(query: PromiseLike<{ data: T | null; error: { message: string } | null }>) => query.then(taken);
      const [profiles, roles] = await Promise.all([
        list(aborts(client.from("profiles").select("id, name").order("id").limit(MAX_ROWS))),
        list(aborts(client.from("roles").select("id, title").order("id").limit(MAX_ROWS))),
      ]);
      return { profiles, roles };
    },
    people: async (ids: readonly string[]) =>
      taken(await aborts(client.from("profiles").select("id, name, headline").in("id", ids).limit(MAX_ROWS))),
    skills: async (ids: readonly string[]): Promise<readonly Skill[]> =>
      taken(
        await aborts(client.from("skills").select("id, name, category, description").in("id", ids).limit(MAX_ROWS)),
      ),

    heldCapabilities: async (profileId: string): Promise<Held> =>
      levels(
        taken(
          await aborts(
            client
              .from("profile_capabilities")
              .select("capability_id, level")
              .eq("profile_id", profileId)
              .limit(MAX_ROWS),
          ),
        ).map(({ capability_id: id, level }) => ({ id, level })),
      ),
    heldSkills: async (profileId: string): Promise<Held> =>
      levels(
        taken(
          await aborts(
            client.from("profile_skills").select("skill_id, level").eq("profile_id", profileId).limit(MAX_ROWS),
          ),
        ).map(({ skill_id: id, level }) => ({ id, level })),
      ),

    /** By role id. A role that asks nothing is not in it. */
    requiredCapabilities: async (roleIds: readonly string[]): Promise<ReadonlyMap<string, readonly Requirement[]>> => {
      const rows = taken(
        await aborts(
          client
            .from("role_capabilities")
            .select("role_id, capability_id, level")
            .in("role_id", roleIds)
            .limit(MAX_ROWS),
        ),
      ).map(({ role_id: role, capability_id: id, level }) => ({ role, id, level }));
      return requirements(rows, await names("capabilities", [...new Set(rows.map(({ id }) => id))]));
    },
    requiredSkills: async (roleIds: readonly string[]): Promise<ReadonlyMap<string, readonly Requirement[]>> => {
      const rows = taken(
        await aborts(
          client.from("role_skills").select("role_id, skill_id, level").in("role_id", roleIds).limit(MAX_ROWS),
        ),
      ).map(({ role_id: role, skill_id: id, level }) => ({ role, id, level }));
      return requirements(rows, await names("skills", [...new Set(rows.map(({ id }) => id))]));
    },

    skillsBuilding: async (capabilityIds: readonly string[]) =>
      taken(
        await aborts(
          client
            .from("capability_skills")
            .select("capability_id, skill_id")
            .in("capability_id", capabilityIds)
            .limit(MAX_ROWS),
        ),
      ),
    levelsOf: async (capabilityIds: readonly string[]) =>
      taken(
        await aborts(
          client
            .from("capability_levels")
            .select("capability_id, level, label, indicator")
            .in("capability_id", capabilityIds)
            .limit(MAX_ROWS),
        ),
      ),
    /** Who holds any of these capabilities, among these people. */
    holders: async (profileIds: readonly string[], capabilityIds: readonly string[]) =>
      taken(
        await aborts(
          client
            .from("profile_capabilities")
            .select("profile_id, capability_id, level")
            .in("profile_id", profileIds)
            .in("capability_id", capabilityIds)
            .limit(MAX_ROWS),
        ),
      ),

    matchRolesForPerson: async (profileId: string, { threshold, limit }: MatchQuery): Promise<readonly Match[]> =>
      taken(
        await aborts(client.rpc("match_roles_for_profile", { profile_id: profileId, ...matching(threshold, limit) })),
      ),
    matchPeopleForRole: async (roleId: string, { threshold, limit }: MatchQuery): Promise<readonly Match[]> =>
      taken(await aborts(client.rpc("match_profiles_for_role", { role_id: roleId, ...matching(threshold, limit) }))),
    matchRolesForRole: async (roleId: string, { threshold, limit }: MatchQuery): Promise<readonly Match[]> =>
      taken(await aborts(client.rpc("match_roles_for_role", { role_id: roleId, ...matching(threshold, limit) }))),
    matchSkillsForRole: async (roleId: string, { threshold, limit }: MatchQuery): Promise<readonly Match[]> =>
      taken(await aborts(client.rpc("match_skills_for_role", { role_id: roleId, ...matching(threshold, limit) }))),
    matchSkillsForText: async (
      embedding: { readonly model: string; readonly vector: readonly number[] },
      { threshold, limit }: MatchQuery,
    ): Promise<readonly Match[]> =>
      taken(
        await aborts(
          client.rpc("match_skills", {
            query_embedding: JSON.stringify(embedding.vector),
            query_model: embedding.model,
            ...matching(threshold, limit),
          }),
        ),
      ),
  };
}

function clientFrom(supabase: unknown): TalentClient {
  if (typeof supabase === "object" && supabase !== null && "rpc" in supabase) return supabase as TalentClient;
  throw new TalentError("database_unavailable", "There is no database here: the request came without `supabase`.");
}

function taken<T>(answer: { readonly data: T | null; readonly error: { readonly message: string } | null }): T {
  const { data, error } = answer;
  if (error === null && data !== null) return data;
  throw new TalentError("database_unavailable", `The database does not answer: ${error?.message ?? "nothing came"}`);
}

function levels(rows: readonly { readonly id: string; readonly level: number }[]): Held {
  return Object.fromEntries(rows.map(({ id, level }) => [id, level]));
}

function requirements(
  rows: readonly { readonly role: string; readonly id: string; readonly level: number }[],
  names: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly Requirement[]> {
  const byRole = new Map<string, Requirement[]>();
  for (const { role, id, level } of rows) {
    const listed = byRole.get(role) ?? [];
    listed.push({ id, name: names.get(id) ?? id, required: level });
    byRole.set(role, listed);
  }
  return byRole;
}
