import { createScriptedModel } from "@ergon/core/testing";
import { describe, expect, it } from "vitest";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getDevelopmentPlan } from "./action.ts";
import type { Stage } from "./development-plan.ts";

type Data = { readonly readiness: number | null; readonly stages: readonly Stage[] };

describe("getDevelopmentPlan", () => {
  const world = talentWorld(getDevelopmentPlan);
  const planFor = async (profileId: string, roleId: string) => {
    const answer = await world.call({ profileId, roleId });
    expect(answer.error).toBeUndefined();
    return { answer, data: answer.data as unknown as Data };
  };

  it("begins with what is critical, and names the levels on the way", async () => {
    const { answer, data } = await planFor("Amara Osei", "Data Engineer");
    expect(
      data.stages.map(({ title, items }) => [title, items.map(({ capability, from, to }) => [capability, from, to])]),
    ).toEqual([
      [
        "First: what is critical",
        [
          ["Cloud Operations", 0, 3],
          ["Cyber Security", 0, 2],
          ["Data Engineering", 1, 4],
        ],
      ],
      ["Then: what is nearly there", [["Software Development", 1, 3]]],
    ]);
    const engineering = data.stages[0]?.items[2];
    expect(engineering?.milestones.map(({ level, label }) => [level, label])).toEqual([
      [2, "Intermediate"],
      [3, "Proficient"],
      [4, "Advanced"],
    ]);
    expect(answer.message).toContain("Amara Osei should first build Cloud Operations from level 0 to 3 by learning");
    expect(answer.dataForDownstreamPrompt?.["getDevelopmentPlan"]?.dataSummary).toBe(answer.message);
  });

  it("recommends the skills that build a capability and are held below its level, the least held first", async () => {
    const { data } = await planFor("amara-osei", "data-engineer");
    const { data: building } = await world.client
      .from("capability_skills")
      .select("*")
      .eq("capability_id", "data-engineering");
    const { data: held } = await world.client.from("profile_skills").select("*").eq("profile_id", "amara-osei");
    const expected = (building ?? [])
      .map(({ skill_id }) => [skill_id, held?.find((one) => one.skill_id === skill_id)?.level ?? 0] as const)
      .filter(([, have]) => have < 4)
      .sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1));
    const item = data.stages
      .flatMap(({ items }) => items)
      .find(({ capabilityId }) => capabilityId === "data-engineering");
    expect(item?.skills.map(({ skillId, have }) => [skillId, have])).toEqual(expected);
    expect(expected).toContainEqual(["python", 3]);
  });

  it("names as mentors only others who hold the capability at the level that is asked", async () => {
    const { data } = await planFor("yuki-tanabe", "data-scientist");
    const items = data.stages.flatMap((stage) => stage.items);
    expect(items.some(({ mentors }) => mentors.length > 0)).toBe(true);
    for (const { capabilityId, to, mentors } of items) {
      expect(mentors.length).toBeLessThanOrEqual(3);
      for (const { profileId, level } of mentors) {
        expect(profileId).not.toBe("yuki-tanabe");
        expect(level).toBeGreaterThanOrEqual(to);
        const { data: held } = await world.client
          .from("profile_capabilities")
          .select("level")
          .match({ profile_id: profileId, capability_id: capabilityId });
        expect(held).toEqual([{ level }]);
      }
    }
  });

  it("has nothing to plan where everything is met or nothing is asked", async () => {
    expect((await planFor("ingrid-solheim", "data-scientist")).data).toMatchObject({ readiness: 100, stages: [] });
    expect((await planFor("noor-haddad", "neighbourhood-fellow")).data).toMatchObject({ readiness: null, stages: [] });
  });

  it("answers an error for people that are not there and for a database that is down", async () => {
    expect(await world.call({ profileId: "Zebulon Quux", roleId: "data-engineer" })).toMatchObject({
      error: { type: "person_not_found" },
    });
    expect(await world.call({ profileId: "a", roleId: "b" }, { supabase: {} })).toMatchObject({
      error: { type: "database_unavailable" },
    });
  });
});

describe("getDevelopmentPlan after getCapabilityGaps", () => {
  const world = talentWorld(getDevelopmentPlan);
  const args = { profileId: "amara-osei", roleId: "data-engineer" };
  const left = (structured: Readonly<Record<string, unknown>>) => ({
    downstreamData: {
      getCapabilityGaps: {
        structured: {
          profileId: "amara-osei",
          personName: "Amara Osei",
          roleId: "data-engineer",
          roleTitle: "Data Engineer",
          foundAt: new Date().toISOString(),
          readiness: 50,
          gaps: [
            { id: "cyber-security", name: "Cyber Security", required: 2, have: 0, severity: 100, status: "missing" },
          ],
          ...structured,
        },
      },
    },
  });
  const capabilities = (data: unknown) =>
    (data as Data).stages.flatMap(({ items }) => items.map(({ capability }) => capability));

  it("uses what was found a moment ago, and says so", async () => {
    for (const asked of [args, { profileId: "Amara Osei", roleId: "data engineer" }]) {
      const { data, actionsTaken } = await world.call(asked, { context: left({}) });
      expect(capabilities(data)).toEqual(["Cyber Security"]);
      expect(actionsTaken).toMatchObject([{ tool: "getCapabilityGaps" }]);
    }
  });

  it.each([
    ["another person's", { profileId: "kwame-boateng", personName: "Kwame Boateng" }],
    ["another role's", { roleId: "cloud-engineer", roleTitle: "Cloud Engineer" }],
    ["old", { foundAt: "2026-01-02T03:04:05.678Z" }],
    ["of the future", { foundAt: "2999-01-02T03:04:05.678Z" }],
    ["not in its form", { gaps: "none" }],
  ])("looks again where what was found is %s", async (_, structured) => {
    const { data, actionsTaken } = await world.call(args, { context: left(structured) });
    expect(capabilities(data)).toHaveLength(4);
    expect(actionsTaken).toBeUndefined();
  });

  it("tells the plan in the model's words beside the computed one", async () => {
    const model = createScriptedModel(["Start with the cloud."]);
    const answer = await world.call(args, { model });
    expect(answer.chatResponse).toMatchObject({ message: "Start with the cloud.", promptDetails: { told: "model" } });
    expect(answer.message).toContain("should first build Cloud Operations");
    expect(model.requests[0]?.messages[1]?.content).toContain("Cloud Operations");
  });
});
