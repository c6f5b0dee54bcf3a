import { describe, expect, it } from "vitest";
import { idsContract } from "../../testing/contracts/ids.contract.ts";
import type { Clock } from "../ports/clock.ts";
import { createSystemClock } from "./clock.ts";
import { createIds } from "./ids.ts";

idsContract("by the system's clock", () => createIds({ clock: createSystemClock() }));

describe("ids", () => {
  it("sort on when the clock is set back", () => {
    let now = 1_000_000;
    const clock: Clock = { ...createSystemClock(), now: () => now };
    const ids = createIds({ clock });
    const before = ids.next("a");
    now -= 60_000;
    const after = ids.next("a");
    expect(before < after).toBe(true);
  });

  it("count on past the end of their chance", () => {
    const clock: Clock = { ...createSystemClock(), now: () => 1 };
    const ids = createIds({ clock, random: (bytes) => void bytes.fill(31) });
    expect(ids.next("")).toBe("0000000001zzzzzzzzzzzzzzzz");
    expect(ids.next("")).not.toBe("0000000001zzzzzzzzzzzzzzzz");
  });
});
