import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLAN_CASES } from "../../testing/plans/cases.ts";
import { arbitraryPlan, TEST_TOOL_IDS } from "../../testing/plans/random-plan.ts";
import { AgenticPlan } from "../schema/plan.ts";
import { ToolRegistry } from "../tools/registry.ts";
import { demoRegistry } from "./preflight/preflight.fixture.ts";
import { validatePlan, type PlanReport } from "./validate-plan.ts";

const demo = demoRegistry();
const registry = new ToolRegistry();
for (const id of TEST_TOOL_IDS) {
  registry.register({
    definition: { id, description: id, parameters: { type: "object" } },
    implementation: () => Promise.resolve(null),
  });
}

const errorsOf = ({ problems }: PlanReport): string[] =>
  problems.filter(({ severity }) => severity === "error").map(({ code, path }) => `${code} ${path}`);

/** CONTRACT's own example. */
const greetAll = {
  planId: "greet-all",
  description: "…",
  parameters: { type: "object", properties: { names: { type: "array" } }, required: ["names"] },
  startStepId: "each",
  steps: [
    {
      id: "each",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.promptInput.names" },
      itemAlias: "name",
      loopPlan: [
        {
          id: "greet",
          type: "tool_call",
          toolId: "demo::greet",
          arguments: { who: { jsonPath: "$.context.name" } },
          saveAs: "greetings",
        },
      ],
      nextStepId: "done",
    },
    { id: "done", type: "final_response", message: { jsonPath: "$.context.greetings" } },
  ],
};

describe("validatePlan", () => {
  it("finds nothing wrong with the contract's example, and says what it will cost", () => {
    expect(validatePlan(greetAll, { registry: demo, input: { names: ["a", "b"] } })).toEqual({
      ok: true,
      problems: [],
      plan: greetAll,
      input: { names: ["a", "b"] },
      estimate: { energyUnits: 2, toolCalls: 2, atLeast: false },
    });
  });

  it("gives the plan with its defaults when its form is right, though its meaning may be wrong", () => {
    const bare = { planId: "a", startStepId: "b", steps: [{ id: "a", type: "tool_call", toolId: "nope" }] };
    const report = validatePlan(bare, { registry: demo });
    expect(report).toMatchObject({ ok: false, plan: { ...bare, description: "", parameters: { type: "object" } } });
    expect(validatePlan({ ...bare, planId: 3 }, { registry: demo })).not.toHaveProperty("plan");
  });

  it("agrees that all plans of the contract's cases can run", () => {
    for (const { name, plan, input } of PLAN_CASES) {
      expect(errorsOf(validatePlan(plan, { registry, input })), name).toEqual([]);
    }
  });

  it("changes nothing that it is given", () => {
    const frozen = deepFreeze(structuredClone(greetAll));
    const input = deepFreeze({ names: ["a"] });
    expect(validatePlan(frozen, { registry: demo, input }).ok).toBe(true);
  });
});

describe("random plans", () => {
  it("that are valid by construction have no errors", () => {
    fc.assert(
      fc.property(arbitraryPlan(), ({ plan, input }) => {
        const report = validatePlan(plan, { registry, input });
        expect(errorsOf(report)).toEqual([]);
        expect(report.plan).toEqual(AgenticPlan.parse(plan));
      }),
      { numRuns: 200 },
    );
  }, 30_000);

  it("have an error where one thing was broken", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(arbitraryPlan(), fc.nat(), ({ plan, input }, seed) => {
        for (const { plan: broken, expected } of mutations(plan, seed)) {
          seen.add(expected.split(" ")[0] ?? "");
          expect(errorsOf(validatePlan(broken, { registry, input })), JSON.stringify(broken)).toContain(expected);
        }
      }),
      { numRuns: 40 },
    );
    expect([...seen].sort()).toEqual([
      "dangling_step",
      "duplicate_step_id",
      "pointer_invalid",
      "pointer_root",
      "start_step_unknown",
      "unknown_field",
      "unknown_step_type",
      "unknown_tool",
      "unreachable_step",
    ]);
  }, 30_000);
});

describe("junk", () => {
  it("gives problems and never throws", () => {
    fc.assert(
      fc.property(
        fc.anything({
          withBigInt: true,
          withDate: true,
          withMap: true,
          withNullPrototype: true,
          withSparseArray: true,
        }),
        (junk) => {
          const report = validatePlan(junk, { registry: demo, input: junk });
          expect(report.ok).toBe(false);
          expect(report.problems.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  it("in place of any part of a plan gives problems and never throws", () => {
    fc.assert(
      fc.property(arbitraryPlan(), fc.nat(), fc.jsonValue(), ({ plan, input }, seed, junk) => {
        const copy = structuredClone(plan) as unknown;
        const places = placesIn(copy);
        const place = places[seed % places.length];
        if (place === undefined) return;
        (place.holder as Record<string, unknown>)[place.key] = junk;
        const report = validatePlan(copy, { registry, input });
        if (report.ok) expect(AgenticPlan.safeParse(copy).success).toBe(true);
        if (!AgenticPlan.safeParse(copy).success) expect(report.ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  }, 30_000);
});

describe("speed", () => {
  const chain = (length: number, parts: (at: number) => object): unknown => ({
    planId: "long",
    startStepId: "s0",
    steps: Array.from({ length }, (_, at) => ({
      id: `s${String(at)}`,
      type: "tool_call",
      toolId: "demo::greet",
      arguments: { who: at === 0 ? "a" : { jsonPath: `$.context.k${String(at - 1)}.text` } },
      saveAs: `k${String(at)}`,
      ...(at < length - 1 ? { nextStepId: `s${String(at + 1)}` } : {}),
      ...parts(at),
    })),
  });

  it.each<[string, (at: number) => object]>([
    ["is right", () => ({})],
    ["has unknown tools", (at) => ({ toolId: `demo::greed${String(at)}` })],
    ["leads nowhere", (at) => ({ nextStepId: `t${String(at)}` })],
    ["reads the end", () => ({ arguments: { who: { jsonPath: "$.context.k499.text" } } })],
    ["has one id and one key", () => ({ id: "same", saveAs: "same" })],
  ])(
    "stays in proportion to a plan that %s",
    (_, parts) => {
      const timeOf = (length: number): number => {
        const plan = chain(length, parts);
        const start = performance.now();
        validatePlan(plan, { registry: demo });
        return performance.now() - start;
      };
      const small = Math.min(timeOf(500), timeOf(500), timeOf(500));
      const large = Math.min(timeOf(4_000), timeOf(4_000));
      // Eight times the steps: 8 for work in proportion, 64 for work that grows with the square. Suggestions have a fixed budget.
      expect(large).toBeLessThan(32 * small + 500);
    },
    30_000,
  );
});

type Mutation = { readonly plan: unknown; readonly expected: string };
type Holder = Record<string, unknown>;

/** Each takes a plan without problems and breaks one thing in it. */
function* mutations(plan: AgenticPlan, seed: number): Iterable<Mutation> {
  const places = placesIn(plan).filter(({ key }) => key === "id");
  const pick = (wanted: (step: Holder) => boolean): { path: string } | undefined => {
    const fitting = places.filter(({ holder }) => wanted(holder as Holder));
    return fitting[seed % fitting.length];
  };
  const change = (path: string, edit: (step: Holder, copy: Holder) => void): unknown => {
    const copy = structuredClone(plan) as unknown as Holder;
    const found = placesIn(copy).find((place) => place.path === path);
    if (found !== undefined) edit(found.holder as Holder, copy);
    return copy;
  };
  const stepPath = (path: string): string => path.slice(0, -".id".length);

  const tool = pick((step) => step["type"] === "tool_call");
  if (tool !== undefined) {
    const at = stepPath(tool.path);
    yield { plan: change(tool.path, (step) => (step["toolId"] = "test::zzz")), expected: `unknown_tool ${at}.toolId` };
    yield {
      plan: change(tool.path, (step) => (step["arguments"] = { a: { jsonPath: "$.contxt.a" } })),
      expected: `pointer_root ${at}.arguments.a`,
    };
    yield {
      plan: change(tool.path, (step) => (step["arguments"] = { a: { jsonPath: "$.context[" } })),
      expected: `pointer_invalid ${at}.arguments.a`,
    };
    yield { plan: change(tool.path, (step) => (step["type"] = "toolcall")), expected: `unknown_step_type ${at}.type` };
    yield { plan: change(tool.path, (step) => (step["saveas"] = "x")), expected: `unknown_field ${at}.saveas` };
  }
  const chained = pick((step) => typeof step["nextStepId"] === "string");
  if (chained !== undefined) {
    const at = stepPath(chained.path);
    yield {
      plan: change(chained.path, (step) => (step["nextStepId"] = "nowhere")),
      expected: `dangling_step ${at}.nextStepId`,
    };
  }
  yield { plan: { ...plan, startStepId: "nowhere" }, expected: "start_step_unknown $.startStepId" };
  const [first, second] = plan.steps;
  if (first !== undefined && second !== undefined) {
    yield { plan: { ...plan, steps: [first, ...plan.steps] }, expected: "duplicate_step_id $.steps[1].id" };
  }
  const extra = { id: "extra", type: "tool_call", toolId: "test::a" };
  yield {
    plan: { ...plan, steps: [...plan.steps, extra] },
    expected: `unreachable_step $.steps[${String(plan.steps.length)}]`,
  };
}

type PlaceIn = { readonly holder: unknown; readonly key: string; readonly path: string };

/** Every field and item of a value. */
function placesIn(value: unknown, path = "$"): PlaceIn[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const at = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    return [{ holder: value, key, path: at }, ...placesIn(inner, at)];
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
