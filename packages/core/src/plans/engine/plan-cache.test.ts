import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../schema/values/json.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createPlanCache, MAX_CHECKED_CHARS, MAX_CHECKED_PLANS } from "./plan-cache.ts";

describe("plans that were checked", () => {
  it("are the same plan the next time, whoever holds the object that it came from", () => {
    const { plans } = open();
    const given = planOf("a");
    const first = check(plans, given);
    expect(check(plans, structuredClone(given)).checked).toBe(first.checked);
    given["description"] = "Changed.";
    expect(check(plans, given).checked).not.toBe(first.checked);
    expect(first.checked.plan.description).toBe("Calls a tool.");
  });

  it("have their input checked each time, with every problem named", () => {
    const { plans } = open();
    const properties = { n: { type: "number", default: 7 } };
    const given = { ...planOf("a"), parameters: { type: "object", properties } };
    expect(check(plans, given).input).toEqual({ n: 7 });
    expect(check(plans, given, { n: 1 }).input).toEqual({ n: 1 });
    expect(() => check(plans, given, { n: "one" })).toThrow(/\$\.input\.n/);
    expect(check(plans, given, { n: 2 }).input).toEqual({ n: 2 });
  });

  it("are checked again when the tools change, and for another role", () => {
    const { plans, registry } = open();
    const first = check(plans, planOf("a"));
    expect(check(plans, planOf("a"), {}, "analyst").checked).not.toBe(first.checked);
    registry.unregister("t");
    expect(() => check(plans, planOf("a"))).toThrow(/no tool "t"/);
    register(registry);
    expect(check(plans, planOf("a")).checked.hash).toBe(first.checked.hash);
  });

  it("are known by the object when they have a name, as long as the same tools are there", () => {
    const { plans, registry } = open();
    let read = 0;
    const { description, ...rest } = planOf("a");
    const given = Object.defineProperty(rest, "description", {
      enumerable: true,
      get: () => {
        read += 1;
        return description;
      },
    });
    const asked = { plan: given, isNamed: true, input: {}, role: undefined };
    const first = plans.check(asked);
    expect(plans.check(asked).checked).toBe(first.checked);
    const before = read;
    expect(plans.check(asked).checked).toBe(first.checked);
    expect(read).toBe(before);
    registry.unregister("t");
    expect(() => plans.check(asked)).toThrow(/no tool "t"/);
    register(registry);
    const again = plans.check(asked);
    expect([again.checked.hash, again.checked === first.checked]).toEqual([first.checked.hash, false]);
    plans.check(asked);
    const afterwards = read;
    expect(plans.check(asked).checked).toBe(again.checked);
    expect(read).toBe(afterwards);
  });

  it("are not mistaken for what is no JSON", () => {
    const { plans } = open();
    check(plans, planOf("a"));
    for (const odd of [
      { ...planOf("a"), toJSON: () => planOf("a") },
      { ...planOf("a"), parameters: new Map() },
    ])
      expect(() => check(plans, odd)).toThrow(/A plan is JSON/);
  });

  it("are remembered up to their number", () => {
    const { plans } = open();
    const first = check(plans, planOf("p0"));
    for (let n = 1; n < MAX_CHECKED_PLANS; n += 1) check(plans, planOf(`p${String(n)}`));
    expect(check(plans, planOf("p0")).checked).toBe(first.checked);
    const second = check(plans, planOf("p1"));
    check(plans, planOf("one-more"));
    expect(check(plans, planOf("p1")).checked).toBe(second.checked);
    expect(check(plans, planOf("p0")).checked).not.toBe(first.checked);
  });

  it("are remembered up to the length of all of them together", () => {
    const { plans } = open();
    const longest = MAX_CHECKED_CHARS - JSON.stringify(planOf("a", "")).length;
    for (const [length, isSame] of [
      [longest, true],
      [longest + 1, false],
    ] as const) {
      const long = planOf("a", "x".repeat(length));
      expect(check(plans, long).checked === check(plans, long).checked).toBe(isSame);
    }
    const half = (name: string) => planOf(name, "x".repeat(longest / 2));
    const older = check(plans, half("b")).checked;
    const newer = check(plans, half("c")).checked;
    expect(check(plans, half("c")).checked).toBe(newer);
    expect(check(plans, half("b")).checked).not.toBe(older);
  });
});

function open() {
  const registry = new ToolRegistry();
  register(registry);
  return { registry, plans: createPlanCache({ registry }) };
}

function register(registry: ToolRegistry): void {
  registry.register({
    definition: { id: "t", description: "A tool.", parameters: { type: "object" } },
    implementation: () => null,
  });
}

function check(plans: ReturnType<typeof createPlanCache>, plan: unknown, input = {}, role?: string) {
  return plans.check({ plan, input, role });
}

function planOf(planId: string, text?: string): Record<string, unknown> & JsonObject {
  return {
    planId,
    description: "Calls a tool.",
    parameters: {},
    startStepId: "s",
    steps: [{ id: "s", type: "tool_call", toolId: "t", arguments: text === undefined ? {} : { text } }],
  };
}
