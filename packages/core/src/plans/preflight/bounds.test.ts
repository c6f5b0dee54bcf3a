import { describe, expect, it } from "vitest";
import { checkToolCall } from "./checks/check-tools.ts";
import { unansweredReads } from "./flow/context-flow.ts";
import { contextKeys } from "./flow/context-keys.ts";
import { graphOf } from "./flow/list-graph.ts";
import { outlinePlan } from "./outline.ts";
import { MAX_CHECK_ISSUES } from "./partial/check.ts";
import { createValueChecker } from "./partial/check-value.ts";
import { call, demoRegistry, messages, plan, said } from "./preflight.fixture.ts";
import { createProblems } from "./problems.ts";
import { MAX_PRODUCERS } from "./flow/producers.ts";
import { createSuggester } from "./suggester.ts";
import { createToolIndex } from "./tool-index.ts";

describe("bounds of preflight's own work", () => {
  it("suggests while comparisons are left, and remembers what it found", () => {
    const names = ["alpha", "beta"];
    const suggester = createSuggester(4);
    expect(suggester.find("alpah", names)).toBe("alpha");
    expect(suggester.find("alpah", names)).toBe("alpha");
    expect(suggester.sentence("bta", names)).toBe(' Did you mean "beta"?');
    expect(suggester.sentence("bet", names)).toBe("");
    expect(suggester.find("bta", names)).toBe("beta");
  });

  it("takes a read for answered when the search for its writer has become too long", () => {
    const to = (nextStepId: string): object => ({ nextStepId });
    const fork = {
      id: "if",
      type: "conditional_branch",
      condition: { left: 1, operator: "equals", right: 1 },
      onTrue: to("a"),
      onFalse: to("b"),
    };
    // "b" is not on the first way to "c", so only a search backwards finds that it leads there.
    const steps = [fork, call("a", to("c")), call("b", { ...to("d"), saveAs: "k" }), call("c", to("d")), call("d")];
    const late = [
      ...steps.slice(0, 2),
      call("b", to("d")),
      ...steps.slice(3, 4),
      call("d", { ...to("e") }),
      call("e", { saveAs: "k" }),
    ];
    const open = (list: readonly unknown[], reader: string, maxWork?: number): number => {
      const outline = outlinePlan(plan(list), createProblems());
      const suggester = createSuggester();
      const graphs = outline.lists.map((each) => graphOf(each, { startId: "if", byId: outline.byId, suggester }));
      const node = outline.byId.get(reader);
      if (node === undefined) throw new Error("no such step");
      return unansweredReads([{ key: "k", node }], graphs, contextKeys(outline.nodes), maxWork).length;
    };
    expect(open(steps, "d")).toBe(0);
    expect(open(steps, "c")).toBe(1);
    expect(open(late, "d", 0)).toBe(1);
    // Two steps are looked at before it is clear that "b" is not among them.
    expect([open(steps, "c", 0), open(steps, "c", 1), open(steps, "c", 2)]).toEqual([0, 0, 1]);
  });

  it("leaves arguments to the gate when too many were checked", () => {
    const outline = outlinePlan(plan([call("a", { toolId: "demo::greet" })]), createProblems());
    const tools = createToolIndex(demoRegistry());
    const missing = (left: number): number => {
      const problems = createProblems();
      const checks = { tools, role: undefined, typesAt: () => undefined, work: { left }, suggester: createSuggester() };
      for (const node of outline.nodes) checkToolCall(node, checks, problems);
      return problems.list().length;
    };
    expect([missing(0), missing(1)]).toEqual([0, 1]);
  });

  it(`follows a key to ${String(MAX_PRODUCERS)} steps that write it, and no further`, () => {
    const chain = (writers: number): unknown =>
      plan([
        ...Array.from({ length: writers }, (_, at) =>
          call(`s${String(at)}`, {
            toolId: "demo::sum",
            arguments: { numbers: [] },
            saveAs: "k",
            nextStepId: at === writers - 1 ? "end" : `s${String(at + 1)}`,
          }),
        ),
        call("end", { toolId: "demo::greet", arguments: { who: { jsonPath: "$.context.k" } } }),
      ]);
    expect(said(chain(MAX_PRODUCERS))).toEqual([`error type_mismatch $.steps[${String(MAX_PRODUCERS)}].arguments.who`]);
    expect(said(chain(MAX_PRODUCERS + 1))).toEqual([]);
  });

  it(`names ${String(MAX_CHECK_ISSUES)} issues of one value`, () => {
    const check = createValueChecker({ items: { type: "string" } });
    expect(check(Array.from({ length: MAX_CHECK_ISSUES }, () => 1)).issues).toHaveLength(MAX_CHECK_ISSUES);
    expect(check(Array.from({ length: MAX_CHECK_ISSUES + 1 }, () => 1)).issues).toHaveLength(MAX_CHECK_ISSUES);
  });

  it("names five steps of a cycle", () => {
    const ring = (length: number): unknown =>
      plan(Array.from({ length }, (_, at) => call(`s${String(at)}`, { nextStepId: `s${String((at + 1) % length)}` })));
    expect(messages(ring(5), "cycle_without_exit")[0]).toContain('"s3", "s4" lead');
    expect(messages(ring(6), "cycle_without_exit")[0]).toContain('"s3", "s4" and 1 more lead');
  });
});
