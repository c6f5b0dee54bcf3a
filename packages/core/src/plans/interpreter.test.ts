import { describe, expect, it } from "vitest";
import type { PlanStep } from "../schema/plan.ts";
import type { Cursor } from "./cursor.ts";
import { openVisits } from "./visits.ts";
import { advance, begin, indexPlan, MAX_VISITS_PER_LIST, owed, type IndexedPlan } from "./interpreter.ts";
import { DEFAULT_LOOP_CONCURRENCY } from "./steps/loop-over-items.ts";
import { DEFAULT_BRANCH_CONCURRENCY } from "./steps/parallel-branch.ts";
import { MAX_BACKOFF_MS } from "./steps/tool-call.ts";

const call = (id: string, more: Partial<Extract<PlanStep, { type: "tool_call" }>> = {}): PlanStep => ({
  id,
  type: "tool_call",
  toolId: "t",
  ...more,
});
const planOf = (...steps: PlanStep[]): IndexedPlan =>
  indexPlan({ planId: "p", description: "", parameters: true, startStepId: steps[0]?.id ?? "", steps });
const startOf = ({ plan }: IndexedPlan): Cursor => ({
  run: 1,
  root: { at: plan.startStepId, index: 0, state: { kind: "ready" } },
});
const positionOf = (cursor: Cursor): string => [...openVisits(cursor)][0]?.position ?? "";

describe("the interpreter", () => {
  it("ignores a completion that nobody waits for (P2)", () => {
    const plan = planOf(call("a"));
    const { cursor } = begin(plan, startOf(plan), 0);
    const position = positionOf(cursor);
    expect(advance(plan, cursor, { kind: "called", ok: true, position, atMs: 0 }).ignored).toBe(true);
    expect(
      advance(plan, cursor, { kind: "checked", answer: "allowed", position: `${position}9`, atMs: 0 }).ignored,
    ).toBe(true);
    const called = advance(plan, cursor, { kind: "checked", answer: "allowed", position, atMs: 0 }).cursor;
    expect(advance(plan, called, { kind: "checked", answer: "allowed", position, atMs: 0 }).ignored).toBe(true);
    expect(advance(plan, called, { kind: "answered", input: 1, position, atMs: 0 }).ignored).toBe(true);
  });

  it("says from the cursor alone what is owed (P3)", () => {
    const plan = planOf(call("a", { retry: { maxAttempts: 2, backoffMs: 10 } }));
    const begun = begin(plan, startOf(plan), 0);
    const position = positionOf(begun.cursor);
    expect(owed(plan, begun.cursor)).toEqual(begun.effects);
    const called = advance(plan, begun.cursor, { kind: "checked", answer: "allowed", position, atMs: 0 });
    expect(owed(plan, called.cursor)).toEqual(called.effects);
    const error = { code: "tool_failed", message: "no", retryable: true };
    const asleep = advance(plan, called.cursor, { kind: "called", ok: false, error, position, atMs: 5 });
    expect(owed(plan, asleep.cursor)).toEqual(asleep.effects);
    expect(asleep.effects).toMatchObject([{ kind: "sleep", untilMs: 15 }]);
  });

  it("starts as many branches and turns at once as it is allowed to", () => {
    const many = Array.from({ length: 20 }, (_, index) => ({ steps: [call(`b${String(index)}`)] }));
    const plan = planOf({ id: "p", type: "parallel_branch", branches: many });
    expect(begin(plan, startOf(plan), 0).effects).toHaveLength(DEFAULT_BRANCH_CONCURRENCY);
    const loop = planOf({
      id: "l",
      type: "loop_over_items",
      collectionPath: { jsonPath: "$.context.x" },
      itemAlias: "i",
      loopPlan: [call("t")],
    });
    const { cursor } = begin(loop, startOf(loop), 0);
    const value = { kind: "collection", count: 5 } as const;
    const turns = advance(loop, cursor, { kind: "evaluated", value, position: positionOf(cursor), atMs: 0 });
    expect(turns.effects).toHaveLength(DEFAULT_LOOP_CONCURRENCY);
  });

  it("lets waits between attempts double up to a bound", () => {
    const plan = planOf(call("a", { retry: { maxAttempts: 100, backoffMs: 1_000 } }));
    let { cursor } = begin(plan, startOf(plan), 0);
    const position = positionOf(cursor);
    cursor = advance(plan, cursor, { kind: "checked", answer: "allowed", position, atMs: 0 }).cursor;
    const error = { code: "tool_failed", message: "no", retryable: true };
    const waits: number[] = [];
    for (let attempt = 1; attempt < 20; attempt++) {
      const failed = advance(plan, cursor, { kind: "called", ok: false, error, position, atMs: 0 });
      for (const effect of failed.effects) if (effect.kind === "sleep") waits.push(effect.untilMs);
      cursor = advance(plan, failed.cursor, { kind: "woke", position, atMs: 0 }).cursor;
    }
    expect(waits.slice(0, 3)).toEqual([1_000, 2_000, 4_000]);
    expect(Math.max(...waits)).toBe(MAX_BACKOFF_MS);
  });

  it("stops a list that does not end at the bound, and not before", () => {
    const condition = { left: 1, operator: "equals", right: 1 } as const;
    const back = { nextStepId: "c" };
    const plan = planOf({ id: "c", type: "conditional_branch", condition, onTrue: back, onFalse: back });
    const at = (index: number): Cursor => ({ run: 1, root: { at: "c", index, state: { kind: "ready" } } });
    const go = (index: number): ReturnType<typeof advance> => {
      const value = { kind: "condition", holds: true } as const;
      return advance(plan, at(index), { kind: "evaluated", value, position: positionOf(at(index)), atMs: 7 });
    };
    expect(go(MAX_VISITS_PER_LIST - 2).cursor.root.state.kind).toBe("ready");
    expect(go(MAX_VISITS_PER_LIST - 1).cursor.root.state).toMatchObject({
      kind: "error",
      error: { code: "visit_limit" },
    });
  });
});
