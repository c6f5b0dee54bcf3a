import { ToolRegistry } from "@ergon/core";
import { describe, expect, it } from "vitest";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getSuggestedCareerPaths } from "./action.ts";
import type { CareerPath } from "./career-paths.ts";

type Data = { readonly currentRoleId: string | null; readonly paths: readonly CareerPath[] };

describe("getSuggestedCareerPaths", () => {
  const world = talentWorld(getSuggestedCareerPaths);
  const pathsFor = async (args: Readonly<Record<string, unknown>>) => {
    const answer = await world.call(args);
    expect(answer.error).toBeUndefined();
    return { answer, data: answer.data as unknown as Data };
  };

  it("ranks moves by 40% meaning, 40% capabilities and 20% skills, where a part counts half", async () => {
    const { data } = await pathsFor({ profileId: "Pavel Novak", limit: 50 });
    const { data: near } = await world.client.rpc("match_roles_for_profile", {
      profile_id: "pavel-novak",
      max_results: 50,
    });
    const coverage = async (kind: "capabilities" | "skills", roleId: string) => {
      const column = kind === "capabilities" ? "capability_id" : "skill_id";
      const asked = ((await world.client.from(`role_${kind}`).select("*").eq("role_id", roleId)).data ??
        []) as Leveled[];
      const held = ((await world.client.from(`profile_${kind}`).select("*").eq("profile_id", "pavel-novak")).data ??
        []) as Leveled[];
      const points = asked.map(({ level, ...one }) => {
        const have = held.find((own) => own[column] === one[column])?.level ?? 0;
        return have >= level ? 1 : have > 0 ? 0.5 : 0;
      });
      return points.reduce<number>((sum, next) => sum + next, 0) / points.length;
    };
    expect(data.paths.length).toBeGreaterThan(2);
    for (const { first, score } of data.paths.slice(0, 4)) {
      const similarity = near?.find(({ id }) => id === first.roleId)?.similarity ?? 0;
      const expected =
        0.4 * similarity +
        0.4 * (await coverage("capabilities", first.roleId)) +
        0.2 * (await coverage("skills", first.roleId));
      expect(score).toBeCloseTo(expected, 8);
    }
    const scores = data.paths.map(({ score }) => score);
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    expect(data.paths.map(({ first }) => first.roleId)).not.toContain("it-support-officer");
  });

  it("looks one promotion further from each first move", async () => {
    const { data, answer } = await pathsFor({ profileId: "amara-osei" });
    expect(data).toMatchObject({ currentRoleId: "data-analyst" });
    expect(data.paths.length).toBeLessThanOrEqual(5);
    const onward = data.paths.filter(({ second }) => second !== null);
    expect(onward.length).toBeGreaterThan(0);
    for (const { first, second } of onward) {
      expect(second?.kind).toBe("promotion");
      expect((second?.grade ?? "") > first.grade).toBe(true);
      expect([first.roleId, "data-analyst"]).not.toContain(second?.roleId);
    }
    expect(answer.nextActions?.[0]?.type).toBe("getCapabilityGaps");
  });

  it("never leads to a role that asks for nothing", async () => {
    const { data } = await pathsFor({ profileId: "naomi-clarke", threshold: -1, limit: 50 });
    const titles = data.paths.flatMap(({ first, second }) => [first.roleId, second?.roleId]);
    expect(titles.length).toBeGreaterThan(10);
    expect(titles).not.toContain("neighbourhood-fellow");
  });

  it("finds no path for a person of whom nothing is known", async () => {
    expect((await pathsFor({ profileId: "noor-haddad", threshold: 0.5 })).data.paths).toEqual([]);
  });

  it("answers to its old spelling too, and is listed once", () => {
    const registry = new ToolRegistry();
    registry.register(getSuggestedCareerPaths);
    expect(registry.get("getSuggestedCaereerPaths")?.id).toBe("getSuggestedCareerPaths");
    expect(registry.list().map(({ id }) => id)).toEqual(["getSuggestedCareerPaths"]);
    expect(() =>
      registry.register({ ...getSuggestedCareerPaths, id: "getSuggestedCaereerPaths", aliases: [] }),
    ).toThrow(/two tools/);
    registry.unregister("getSuggestedCareerPaths");
    expect(registry.has("getSuggestedCaereerPaths")).toBe(false);
  });

  it("answers an error for a person that is not there and for a database that is down", async () => {
    expect(await world.call({ profileId: "Zebulon Quux" })).toMatchObject({ error: { type: "person_not_found" } });
    expect(await world.call({ profileId: "amara-osei" }, { supabase: undefined })).toMatchObject({
      error: { type: "database_unavailable" },
    });
  });
});

type Leveled = { readonly level: number; readonly capability_id?: string; readonly skill_id?: string };
