import { describe, expect, it } from "vitest";
import type { JournalRow } from "../../ports/state-store.ts";
import type { Json } from "../../schema/values/json.ts";
import { diffRuns, MAX_DIFF_CHARS, MAX_DIFF_KEYS, MAX_DIFF_STEPS, type ComparedRun } from "./diff-runs.ts";

const at = "2026-01-01T00:00:00.000Z";

function row(output: Json): JournalRow {
  const call = { position: "", scope: "", toolId: "t", effects: "pure", key: "", argsHash: "", request: {} } as const;
  return { ...call, startedAt: at, finishedAt: at, state: "finished", result: { output }, energyUnits: 1 };
}

function run(calls: readonly (readonly [string, Json])[], context: Record<string, Json> = {}): ComparedRun {
  const core = {
    sessionId: "s",
    status: "completed",
    createdAt: at,
    updatedAt: at,
    waiting: [],
    run: 1,
    energySpent: 0,
  } as const;
  return {
    core: { ...core, waiting: [] },
    context,
    isCut: false,
    calls: calls.map(([name, output]) => ({ name, row: row(output) })),
  };
}

describe("comparing two runs", () => {
  it("numbers the visits of a step that came round again", () => {
    const { steps } = diffRuns(
      run([
        ["a", 1],
        ["a", 2],
        ["a", 3],
      ]),
      run([
        ["a", 1],
        ["a", 9],
      ]),
    );
    expect(steps.map(({ path, change }) => [path, change])).toEqual([
      ["a", "same"],
      ["a#2", "changed"],
      ["a#3", "only_a"],
    ]);
  });

  it("shows so many steps, those that differ first", () => {
    const same = Array.from({ length: MAX_DIFF_STEPS }, (_, n) => [`s${String(n)}`, 1] as const);
    expect(diffRuns(run(same), run(same))).toMatchObject({ isCut: false, same: MAX_DIFF_STEPS });
    const diff = diffRuns(run([...same, ["last", 1]]), run([...same, ["last", 2]]));
    expect(diff).toMatchObject({ isCut: true, same: MAX_DIFF_STEPS, changed: 1 });
    expect(diff.steps).toHaveLength(MAX_DIFF_STEPS);
    expect(diff.steps.at(-1)).toMatchObject({ path: "last", change: "changed" });
  });

  it("shows so many keys of the context", () => {
    const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${String(n)}`, n]));
    expect(diffRuns(run([], keys(MAX_DIFF_KEYS)), run([])).isCut).toBe(false);
    const diff = diffRuns(run([], keys(MAX_DIFF_KEYS + 1)), run([]));
    expect([diff.isCut, diff.context.length]).toEqual([true, MAX_DIFF_KEYS]);
  });

  it("shows values up to a length, and compares longer ones all the same", () => {
    const fits = "x".repeat(MAX_DIFF_CHARS - 2);
    const { steps } = diffRuns(
      run([
        ["a", fits],
        ["b", `${fits}y`],
      ]),
      run([
        ["a", fits],
        ["b", `${fits}z`],
      ]),
    );
    expect(steps.map(({ change, a }) => [change, a?.output])).toEqual([
      ["same", fits],
      ["changed", undefined],
    ]);
  });
});
