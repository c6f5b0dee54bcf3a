import { describe, expect, it } from "vitest";
import type { Gap } from "../shared/levels.ts";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getCapabilityGaps } from "./action.ts";

type Data = {
  readonly readiness: number | null;
  readonly band: string;
  readonly gaps: readonly Gap[];
  readonly profileId: string;
};

describe("getCapabilityGaps", () => {
  const world = talentWorld(getCapabilityGaps);
  const gapsFor = async (profileId: string, roleId: string) => {
    const answer = await world.call({ profileId, roleId });
    expect(answer.error).toBeUndefined();
    return { answer, data: answer.data as unknown as Data };
  };

  it("finds what one can count by hand", async () => {
    const { answer, data } = await gapsFor("amara-osei", "data-engineer");
    expect(
      data.gaps.map(({ name, required, have, severity, status }) => [name, required, have, severity, status]),
    ).toEqual([
      ["Cloud Operations", 3, 0, 100, "missing"],
      ["Cyber Security", 2, 0, 100, "missing"],
      ["Data Engineering", 4, 1, 75, "insufficient"],
      ["Software Development", 3, 1, (2 / 3) * 100, "insufficient"],
      ["Data Literacy", 3, 4, 0, "met"],
      ["Records and Information", 2, 2, 0, "met"],
    ]);
    expect(data.readiness).toBeCloseTo(100 - (100 + 100 + 75 + 200 / 3) / 6, 10);
    expect(answer.message).toContain("Amara Osei is 43% ready for Data Engineer");
    expect(answer.nextActions?.[0]).toMatchObject({ type: "getDevelopmentPlan", priority: "high" });
    expect(answer.dataForDownstreamPrompt?.["getCapabilityGaps"]).toMatchObject({
      dataSummary: answer.message,
      structured: { profileId: "amara-osei", roleId: "data-engineer" },
      truncated: false,
    });
  });

  it("agrees with a count over the tables, for people and roles across the whole sample", async () => {
    const rows = <T>({ data }: { readonly data: T[] | null }): T[] => data ?? [];
    const people = rows(await world.client.from("profiles").select("id").order("id"));
    const roles = rows(await world.client.from("roles").select("id").order("id"));
    const required = rows(await world.client.from("role_capabilities").select("*"));
    const held = rows(await world.client.from("profile_capabilities").select("*"));
    expect(people.length).toBeGreaterThanOrEqual(60);
    expect(roles.length).toBeGreaterThanOrEqual(40);
    for (let at = 0; at < 12; at += 1) {
      const person = people[(at * 17) % people.length]?.id ?? "";
      const role = roles[(at * 11) % roles.length]?.id ?? "";
      const { data } = await gapsFor(person, role);
      let total = 0;
      let count = 0;
      for (const { role_id, capability_id, level } of required) {
        if (role_id !== role) continue;
        const have = held.find((one) => one.profile_id === person && one.capability_id === capability_id)?.level;
        const severity = have === undefined ? 100 : have < level ? (100 * (level - have)) / level : 0;
        expect(data.gaps.find(({ id }) => id === capability_id)?.severity).toBeCloseTo(severity, 10);
        total += severity;
        count += 1;
      }
      expect(data.gaps).toHaveLength(count);
      if (count === 0) expect(data.readiness).toBeNull();
      else expect(data.readiness).toBeCloseTo(100 - total / count, 10);
    }
  });

  it("takes names for ids, and forgives small slips", async () => {
    expect((await gapsFor("amra osei", "data enginer")).data.profileId).toBe("amara-osei");
    expect((await gapsFor("DECLAN O'ROURKE", "parks supervisor")).data).toMatchObject({
      readiness: 100,
      band: "ready now",
    });
    expect((await gapsFor("Touré", "Emergency Planner")).data.profileId).toBe("mariam-toure");
  });

  it("asks which one, where a name fits several", async () => {
    const answer = await world.call({ profileId: "Haddad", roleId: "data-engineer" });
    expect(answer).toMatchObject({ success: false, error: { type: "person_ambiguous" } });
    expect(answer.message).toContain("Leila Haddad (leila-haddad)");
    expect(answer.message).toContain("Noor Haddad (noor-haddad)");
    expect(await world.call({ profileId: "amara-osei", roleId: "Engineer" })).toMatchObject({
      error: { type: "role_ambiguous" },
    });
  });

  it("says so for a person or a role that is not there", async () => {
    expect(await world.call({ profileId: "Zebulon Quux", roleId: "data-engineer" })).toMatchObject({
      success: false,
      error: { type: "person_not_found", message: 'There is no person "Zebulon Quux".' },
    });
    expect(await world.call({ profileId: "amara-osei", roleId: "astronaut" })).toMatchObject({
      error: { type: "role_not_found" },
    });
  });

  it.each(["'; drop table profiles; --", "%' or '1'='1", "*", ") or (id.neq.x", "\\", '"', "日本"])(
    "takes %s for a name that nobody has",
    async (name) => {
      expect(await world.call({ profileId: name, roleId: "data-engineer" })).toMatchObject({
        error: { type: "person_not_found" },
      });
      expect((await world.client.from("profiles").select("id")).data?.length).toBeGreaterThanOrEqual(60);
    },
  );

  it("finds everything missing for a person with nothing, and nothing for one with everything", async () => {
    const { data: nobody } = await gapsFor("noor-haddad", "head-of-data");
    expect(nobody.readiness).toBe(0);
    expect(nobody.gaps.every(({ status }) => status === "missing")).toBe(true);
    const { data: expert, answer } = await gapsFor("ingrid-solheim", "strategy-lead");
    expect(expert.readiness).toBe(100);
    expect(answer.message).toContain("all 7 capabilities are met");
  });

  it("has no readiness for a role that asks nothing", async () => {
    const { data, answer } = await gapsFor("amara-osei", "neighbourhood-fellow");
    expect(data).toMatchObject({ readiness: null, band: "unknown", gaps: [] });
    expect(answer.message).toContain("asks for no capabilities yet");
  });

  it("takes person and role from what the conversation is about", async () => {
    const context = {
      profileId: "kwame-boateng",
      downstreamData: { earlier: { structured: { roleId: "cloud-engineer" } } },
    };
    const { data } = await world.call({}, { context });
    expect(data).toMatchObject({ profileId: "kwame-boateng", roleId: "cloud-engineer" });
  });

  it("answers an error, and throws nothing, when there is no database or it is down", async () => {
    const args = { profileId: "amara-osei", roleId: "data-engineer" };
    expect(await world.call(args, { supabase: undefined })).toMatchObject({ error: { type: "database_unavailable" } });
    const broken = { rpc: () => ({ abortSignal: () => Promise.reject(new Error("socket hang up")) }) };
    expect(await world.call(args, { supabase: broken })).toMatchObject({
      success: false,
      error: { type: "database_unavailable", message: "socket hang up" },
    });
  });
});
