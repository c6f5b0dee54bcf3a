import { createHashEmbedder } from "@ergon/core/store-kit";
import { describe, expect, it } from "vitest";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getSemanticSkillRecommendations } from "./action.ts";
import type { Recommendation } from "./recommend-skills.ts";

type Data = {
  readonly recommendations: readonly Recommendation[];
  readonly learningPath: readonly string[];
  readonly roleId?: string;
};

describe("getSemanticSkillRecommendations", () => {
  const world = talentWorld(getSemanticSkillRecommendations);
  const recommend = async (args: Readonly<Record<string, unknown>>, context = {}) => {
    const answer = await world.call(args, { context });
    expect(answer.error).toBeUndefined();
    return answer.data as unknown as Data;
  };

  it("recommends what the role asks for and is held below it, and what is near in meaning, each once", async () => {
    const { recommendations } = await recommend({ profileId: "pavel-novak", roleId: "cloud-engineer", limit: 50 });
    const { data: required } = await world.client.from("role_skills").select("*").eq("role_id", "cloud-engineer");
    const { data: held } = await world.client.from("profile_skills").select("*").eq("profile_id", "pavel-novak");
    const { data: near } = await world.client.rpc("match_skills_for_role", {
      role_id: "cloud-engineer",
      max_results: 50,
    });
    const have = (id: string) => held?.find(({ skill_id }) => skill_id === id)?.level ?? 0;
    const target = (id: string) => required?.find(({ skill_id }) => skill_id === id)?.level ?? 2;
    const candidates = new Set([
      ...(required ?? []).map(({ skill_id }) => skill_id),
      ...(near ?? []).map(({ id }) => id),
    ]);
    const expected = [...candidates].filter((id) => have(id) < target(id)).sort();
    expect(recommendations.map(({ skillId }) => skillId).toSorted()).toEqual(expected);
    for (const { skillId, current, target: aim, severity } of recommendations) {
      expect([current, aim]).toEqual([have(skillId), target(skillId)]);
      expect(severity).toBeCloseTo(current === 0 ? 100 : (100 * (aim - current)) / aim, 10);
    }
  });

  it("puts what the role asks for first and gives it priority", async () => {
    const { recommendations } = await recommend({ profileId: "Pavel Novak", roleId: "Cloud Engineer" });
    const firstNotAsked = recommendations.findIndex(({ required }) => !required);
    const after = firstNotAsked < 0 ? [] : recommendations.slice(firstNotAsked);
    expect(after.some(({ required }) => required)).toBe(false);
    expect(recommendations.find(({ skillId }) => skillId === "infrastructure-as-code")).toMatchObject({
      priority: "high",
      current: 0,
      target: 4,
    });
    expect(recommendations.find(({ skillId }) => skillId === "linux-administration")).toMatchObject({
      priority: "medium",
      current: 2,
    });
    expect(recommendations.length).toBeLessThanOrEqual(10);
  });

  it("has a learning path with the shortest ways first", async () => {
    const { learningPath } = await recommend({ profileId: "pavel-novak", roleId: "cloud-engineer" });
    const ways = learningPath
      .map((line) => /level (\d) to (\d)$/.exec(line))
      .map((way) => Number(way?.[2]) - Number(way?.[1]));
    expect(ways).toEqual(ways.toSorted((a, b) => a - b));
    expect(ways.length).toBeGreaterThan(2);
  });

  it("looks towards the present role when none is named", async () => {
    expect(await recommend({ profileId: "yuki-tanabe" })).toMatchObject({ roleId: "data-engineer" });
  });

  it("finds skills near what was said, with a vector of the same model only", async () => {
    const [embeddedMessage] = await createHashEmbedder().embed(["growing and tending plants and trees"]);
    const args = { profileId: "noor-haddad", useMessage: true };
    const { recommendations } = await recommend(args, { embeddedMessage });
    expect(recommendations[0]?.skillId).toBe("horticulture");
    const foreign = { ...embeddedMessage, model: "another/model" };
    expect((await recommend(args, { embeddedMessage: foreign })).recommendations).toEqual([]);
  });

  it("recommends nothing to somebody who holds everything", async () => {
    expect((await recommend({ profileId: "ingrid-solheim", roleId: "lead-developer" })).recommendations).toEqual([]);
  });

  it("answers an error where there is nothing to go by, and for a database that is down", async () => {
    expect(await world.call({ profileId: "noor-haddad" })).toMatchObject({ error: { type: "nothing_to_match" } });
    expect(await world.call({ profileId: "noor-haddad" }, { supabase: 1 })).toMatchObject({
      error: { type: "database_unavailable" },
    });
  });
});
