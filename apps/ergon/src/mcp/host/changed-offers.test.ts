import type { JsonObject } from "@ergon/core";
import type { EventType } from "@ergon/core/schema";
import { describe, expect, it } from "vitest";
import { changedOffers } from "./changed-offers.ts";

describe("the lists that may be others after an event", () => {
  const cases: readonly [EventType, JsonObject, readonly string[]][] = [
    ["server-changed", { serverId: "s", offer: "prompts" }, ["prompts"]],
    ["server-changed", { serverId: "s", offer: "resources" }, ["resources"]],
    ["server-changed", { serverId: "s", state: "ready" }, ["resources", "prompts"]],
    ["server-changed", { serverId: "s", state: "down" }, ["resources", "prompts"]],
    ["server-changed", { serverId: "s", state: "starting" }, []],
    ["tools-changed", { serverId: "s" }, []],
  ];
  it.each(cases)("%s %j: %j", (type, data, lists) => {
    expect(changedOffers({ type, data, at: "", seq: 1, owner: "me" })).toEqual(lists);
  });
});
