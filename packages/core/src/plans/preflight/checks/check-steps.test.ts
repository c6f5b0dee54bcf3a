import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { componentsOf } from "../flow/components.ts";
import { call, messages, plan, said } from "../preflight.fixture.ts";

const branch = (id: string, onTrue: object, onFalse: object): object => ({
  id,
  type: "conditional_branch",
  condition: { left: 1, operator: "equals", right: 1 },
  onTrue,
  onFalse,
});
const parallel = (id: string, lists: readonly object[][], parts: object = {}): object => ({
  id,
  type: "parallel_branch",
  branches: lists.map((steps) => ({ steps })),
  ...parts,
});
const to = (nextStepId: string): object => ({ nextStepId });

describe("ids", () => {
  it("stand once in the whole plan, and both places are named", () => {
    const twice = plan([parallel("p", [[call("a")], [call("a")]], to("b")), call("b", to("c")), call("c"), call("b")]);
    expect(said(twice)).toEqual([
      "error duplicate_step_id $.steps[0].branches[1].steps[0].id",
      "error duplicate_step_id $.steps[3].id",
    ]);
    expect(messages(twice, "duplicate_step_id")[1]).toContain('Step "b" is at $.steps[1] already');
  });
});

describe("where steps lead", () => {
  it("is to steps of their own list", () => {
    const wrong = plan([
      parallel("p", [[call("a", to("c")), call("b")]], to("a")),
      call("c", to("see")),
      branch("seen", to("c"), to("zzzzz")),
    ]);
    expect(said(wrong)).toEqual([
      "error dangling_step $.steps[0].branches[0].steps[0].nextStepId",
      "error unreachable_step $.steps[0].branches[0].steps[1]",
      "error dangling_step $.steps[0].nextStepId",
      "error unreachable_step $.steps[1]",
      "error dangling_step $.steps[1].nextStepId",
      "error dangling_step $.steps[2].onFalse.nextStepId",
    ]);
    expect(messages(wrong, "dangling_step")).toEqual([
      'Step "c" is at $.steps[1], in another list; a step leads only to steps of its own list.',
      'Step "a" is at $.steps[0].branches[0].steps[0], in another list; a step leads only to steps of its own list.',
      'No step is "see". Did you mean "seen"?',
      'No step is "zzzzz".',
    ]);
  });

  it("reads a mistyped name as the one that was meant, so that one fault gives one problem", () => {
    const typo = plan([call("fetch", to("sumarize")), call("summarize", to("end")), call("end")]);
    expect(said(typo)).toEqual(["error dangling_step $.steps[0].nextStepId"]);
  });

  it("begins at a step of the plan's list", () => {
    const steps = [parallel("first", [[call("inner")]], to("second")), call("second")];
    expect(said(plan(steps, { startStepId: "frist" }))).toEqual(["error start_step_unknown $.startStepId"]);
    expect(messages(plan(steps, { startStepId: "frist" }), "start_step_unknown")[0]).toContain('Did you mean "first"?');
    expect(messages(plan(steps, { startStepId: "inner" }), "start_step_unknown")[0]).toContain(
      "$.steps[0].branches[0].steps[0]",
    );
  });

  it("leaves a final response at top level", () => {
    const nested = plan([parallel("p", [[{ id: "r", type: "final_response", message: "x" }]])]);
    expect(said(nested)).toEqual(["error final_response_nested $.steps[0].branches[0].steps[0]"]);
  });
});

describe("a step that nothing reaches", () => {
  it("is named once for all that follow it, with the step that forgot it", () => {
    const forgot = plan([call("a", to("b")), call("b"), call("c", to("d")), call("d", to("e")), call("e")]);
    expect(said(forgot)).toEqual(["error unreachable_step $.steps[2]"]);
    expect(messages(forgot, "unreachable_step")).toEqual([
      'Nothing leads to step "c". 2 more steps are reached only through it. Did you forget nextStepId on step "b"?',
    ]);
  });

  it.each([
    [{ id: "a", type: "human_in_the_loop", message: "?" }, "nextStepIdOnInput"],
    [branch("a", to("c"), {}), "onFalse.nextStepId"],
  ])("names the field that was forgotten: %j", (first, field) => {
    const forgot = plan([first, call("b", to("c")), call("c")]);
    expect(messages(forgot, "unreachable_step")[0]).toContain(`Did you forget ${field} on step "a"?`);
  });

  it("is found in nested lists and in circles of their own", () => {
    const lost = plan([parallel("p", [[call("a"), call("b", to("c")), call("c", to("b"))]])]);
    expect(said(lost)).toEqual([
      "error unreachable_step $.steps[0].branches[0].steps[1]",
      "error cycle_without_exit $.steps[0].branches[0].steps[1]",
    ]);
    const before = plan([call("a", to("b")), call("b")], { startStepId: "b" });
    expect(messages(before, "unreachable_step")).toEqual(['Nothing leads to step "a". The plan starts at "b".']);
  });
});

describe("a cycle", () => {
  it("needs a way out", () => {
    expect(said(plan([call("a", to("b")), call("b", to("a"))]))).toEqual(["error cycle_without_exit $.steps[0]"]);
    expect(said(plan([call("a", to("a"))]))).toEqual(["error cycle_without_exit $.steps[0]"]);
    const closed = plan([call("a", to("b")), branch("b", to("a"), to("c")), call("c", to("b"))]);
    expect(messages(closed, "cycle_without_exit")).toEqual([
      'Steps "a", "b", "c" lead only to each other, and would run for ever. Let a conditional_branch lead out.',
    ]);
  });

  it("needs a way out where nothing reaches it, too", () => {
    const apart = [call("c", to("d")), call("d", to("c")), call("e", to("e"))];
    const lost = plan([call("a", to("b")), call("b"), ...apart]);
    expect(said(lost).filter((line) => line.includes("cycle"))).toEqual([
      "error cycle_without_exit $.steps[2]",
      "error cycle_without_exit $.steps[4]",
    ]);
    expect(said(plan(apart, { startStepId: "nowhere" }))).toEqual([
      "error start_step_unknown $.startStepId",
      "error cycle_without_exit $.steps[0]",
      "error cycle_without_exit $.steps[2]",
    ]);
    const leaving = plan([call("a"), call("b", to("c")), branch("c", to("b"), to("a"))]);
    expect(said(leaving)).toEqual(["error unreachable_step $.steps[1]"]);
  });

  it.each([
    ["an edge out", [call("a", to("b")), branch("b", to("a"), to("c")), call("c")]],
    ["an end of the list", [call("a", to("b")), branch("b", to("a"), {})]],
    [
      "a final response",
      [call("a", to("b")), branch("b", to("a"), to("c")), { id: "c", type: "final_response", message: "x" }],
    ],
  ])("may have %s as one", (_, steps) => {
    expect(said(plan(steps))).toEqual([]);
  });
});

describe("components", () => {
  it("are one exactly where steps lead to each other", () => {
    const graph = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(graph, (next) => {
        const { component, isReached, isCycle } = componentsOf(next, 0);
        const reach = next.map((_, from) => reachable(next, from));
        for (let a = 0; a < next.length; a += 1) {
          expect(isReached[a]).toBe(a === 0 || reach[0]?.has(a));
          expect(isCycle[component[a] ?? -1]).toBe(reach[a]?.has(a));
          for (const b of reach[a] ?? []) {
            expect(component[a]).toBeGreaterThanOrEqual(component[b] ?? 0);
            expect(component[a] === component[b]).toBe(reach[b]?.has(a) === true);
          }
        }
      }),
    );
  });
});

function reachable(next: readonly (readonly number[])[], from: number): ReadonlySet<number> {
  const found = new Set<number>();
  const open = [...(next[from] ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    open.push(...(next[at] ?? []));
  }
  return found;
}
