import { describe, expect, it } from "vitest";
import { talentWorld } from "../shared/talent-world.fixture.ts";
import { getTalentNames } from "./action.ts";

type Entities = { readonly entities: readonly { readonly kind: string; readonly id: string; readonly name: string }[] };

describe("getTalentNames", () => {
  const world = talentWorld(getTalentNames);

  it("names everybody and every role, once each", async () => {
    const { success, data, message } = await world.call({});
    const { entities } = data as unknown as Entities;
    const { count: people } = await world.client.from("profiles").select("id", { count: "exact", head: true });
    const { count: roles } = await world.client.from("roles").select("id", { count: "exact", head: true });
    expect(success).toBe(true);
    expect(entities.filter(({ kind }) => kind === "profile")).toHaveLength(people ?? -1);
    expect(entities.filter(({ kind }) => kind === "role")).toHaveLength(roles ?? -1);
    expect(entities).toContainEqual({ kind: "profile", id: "amara-osei", name: "Amara Osei" });
    expect(data).toMatchObject({
      kinds: { profile: { verbs: ["hire", "fire", "promote"] }, role: { aliases: ["job", "position"] } },
    });
    expect(message).toBe(`There are ${String(people)} people and ${String(roles)} roles.`);
  });

  it("says so when there is no database", async () => {
    const { success, error } = await world.call({}, { supabase: null });
    expect({ success, type: error?.type }).toEqual({ success: false, type: "database_unavailable" });
  });
});
