import { createSystemClock } from "@ergon/core";
import type { NewEvent } from "@ergon/core/schema";
import { describe, expect, it } from "vitest";
import { hubEvents, MAX_NAMED } from "./hub-events.ts";

describe("an event of changed tools", () => {
  it.each([MAX_NAMED, MAX_NAMED + 1])("names so many and counts all: %i came", (count) => {
    const told: NewEvent[] = [];
    const added = Array.from({ length: count }, (_, at) => `s_t${String(at)}`);
    const tell = (events: readonly NewEvent[]) => void told.push(...events);
    hubEvents({ clock: createSystemClock(), tell })({ kind: "tools", serverId: "s", added, removed: added });
    const [event] = told;
    expect(event).toMatchObject({ type: "tools-changed", data: { addedCount: count, removedCount: count } });
    expect(event?.data["added"]).toEqual(added.slice(0, MAX_NAMED));
    expect(event?.data["removed"]).toHaveLength(MAX_NAMED);
  });
});

describe("an event of what a server has beside its tools", () => {
  it("says of which server, and which list", () => {
    const told: NewEvent[] = [];
    const tell = (events: readonly NewEvent[]) => void told.push(...events);
    hubEvents({ clock: createSystemClock(), tell })({ kind: "offers", serverId: "s", offer: "prompts" });
    expect(told).toMatchObject([{ type: "server-changed", data: { serverId: "s", offer: "prompts" } }]);
  });
});
