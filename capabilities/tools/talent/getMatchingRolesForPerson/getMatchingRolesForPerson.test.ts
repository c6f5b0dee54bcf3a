import { describe, expect, it } from "vitest";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getMatchingRolesForPerson } from "./action.ts";

type Found = {
  readonly roleId: string;
  readonly similarity: number;
  readonly fit: number | null;
  readonly readiness: number | null;
};
type Data = {
  readonly threshold: number;
  readonly matches: readonly Found[];
  readonly withoutFit: readonly Pick<Found, "roleId" | "similarity">[];
};

describe("getMatchingRolesForPerson", () => {
  const world = talentWorld(getMatchingRolesForPerson);
  const matchesFor = async (args: Readonly<Record<string, unknown>>) =>
    (await world.call(args)).data as unknown as Data;
  const vector = (text: string | null | undefined): number[] => JSON.parse(text ?? "[]") as number[];
  const cosine = (a: readonly number[], b: readonly number[]): number => {
    const dot = (x: readonly number[], y: readonly number[]) =>
      x.reduce((sum, value, at) => sum + value * (y[at] ?? 0), 0);
    return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
  };

  it("finds exactly the roles whose vectors are near enough, the present one left out", async () => {
    const { data: person } = await world.client.from("profiles").select("embedding").eq("id", "amara-osei").single();
    const { data: roles } = await world.client.from("roles").select("id, embedding");
    const threshold = 0.3;
    const expected = (roles ?? [])
      .map(({ id, embedding }) => ({ id, similarity: cosine(vector(person?.embedding), vector(embedding)) }))
      .filter(({ id, similarity }) => similarity >= threshold && id !== "data-analyst")
      .sort((a, b) => b.similarity - a.similarity);
    expect(expected.length).toBeGreaterThan(2);
    const { matches, withoutFit } = await matchesFor({ profileId: "amara-osei", threshold, limit: 50 });
    const found = [...matches, ...withoutFit].sort((a, b) => b.similarity - a.similarity);
    expect(found.map(({ roleId }) => roleId)).toEqual(expected.map(({ id }) => id));
    for (const [at, { similarity }] of found.entries())
      expect(similarity).toBeCloseTo(expected[at]?.similarity ?? 0, 4);
  });

  it("orders the matches by fit and names roles with a fit of 0% apart, as no match", async () => {
    const answer = await world.call({ profileId: "kwame-boateng", threshold: 0.3, limit: 50 });
    const { matches, withoutFit } = answer.data as unknown as Data;
    expect(matches.map(({ roleId }) => roleId)).toEqual(["head-of-data", "strategy-lead", "tram-operations-manager"]);
    expect(withoutFit.map(({ roleId }) => roleId)).toEqual(["emergency-planner", "hr-business-partner"]);
    expect(answer.message).toBe(
      "Roles that match Kwame Boateng: Head of Data (fit 14%), Strategy Lead (fit 11%) and Tram Operations Manager (fit 3%). " +
        "Alike, but with a fit of 0%: Emergency Planner and HR Business Partner.",
    );
  });

  it("keeps the best fit of all alike roles within the limit", async () => {
    const { matches } = await matchesFor({ profileId: "amara-osei", threshold: 0.3, limit: 2 });
    expect(matches.map(({ roleId }) => roleId)).toEqual(["finance-analyst", "data-engineer"]);
  });

  it("has a fit of 60% capabilities and 40% skills", async () => {
    const { matches } = await matchesFor({ profileId: "Kwame Boateng", limit: 3 });
    expect(matches.length).toBeGreaterThan(0);
    for (const { roleId, fit } of matches) {
      const share = async (table: "capabilities" | "skills") => {
        const column = table === "capabilities" ? "capability_id" : "skill_id";
        const asked = ((await world.client.from(`role_${table}`).select("*").eq("role_id", roleId)).data ??
          []) as Leveled[];
        const held = ((await world.client.from(`profile_${table}`).select("*").eq("profile_id", "kwame-boateng"))
          .data ?? []) as Leveled[];
        const severities = asked.map(({ level, ...one }) => {
          const have = held.find((own) => own[column] === one[column])?.level ?? 0;
          return have === 0 ? 100 : Math.max(0, (100 * (level - have)) / level);
        });
        return 100 - severities.reduce((sum, next) => sum + next, 0) / severities.length;
      };
      expect(fit).toBeCloseTo(0.6 * (await share("capabilities")) + 0.4 * (await share("skills")), 8);
    }
  });

  it("takes the threshold that was measured for the embedder when none is named", async () => {
    const { data } = await world.client.from("match_thresholds").select("*").eq("pair", "profile_role").single();
    const { threshold, matches } = await matchesFor({ profileId: "victor-okonkwo" });
    expect(threshold).toBe(data?.threshold);
    expect(matches.every(({ similarity }) => similarity >= threshold)).toBe(true);
    expect(matches.length).toBeLessThanOrEqual(10);
  });

  it("finds nothing where nothing is near, and for a person of whom nothing is known", async () => {
    const answer = await world.call({ profileId: "amara-osei", threshold: 1 });
    expect(answer).toMatchObject({ success: true, data: { matches: [] }, nextActions: [] });
    expect(await world.call({ profileId: "noor-haddad", threshold: 0.5 })).toMatchObject({
      success: true,
      data: { matches: [] },
    });
  });

  it("answers an error for a person that is not there and for a database that is down", async () => {
    expect(await world.call({ profileId: "Zebulon Quux" })).toMatchObject({ error: { type: "person_not_found" } });
    expect(await world.call({ profileId: "amara-osei" }, { supabase: null })).toMatchObject({
      error: { type: "database_unavailable" },
    });
  });
});

type Leveled = { readonly level: number; readonly capability_id?: string; readonly skill_id?: string };
