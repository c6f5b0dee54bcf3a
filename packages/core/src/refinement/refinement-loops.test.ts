import { beforeEach, describe, expect, it } from "vitest";
import { createSystemClock } from "../memory/clock.ts";
import { refinementLoopsContract } from "../../testing/contracts/refinement-loops.contract.ts";
import { createLoopIds } from "../store-kit/loop-ids.ts";
import { createMemoryLoopStore } from "../memory/loop-store.ts";
import type { RefinementLoops } from "../ports/refinement-loops.ts";
import { DEFAULT_LOOP_BOUNDS } from "./loop-bounds.ts";
import {
  createRefinementLoops,
  type LoopDecided,
  MAX_ID_ATTEMPTS,
  type RefinementLoopsDeps,
} from "./refinement-loops.ts";

const owner = "ada";
let decided: LoopDecided[];
let loops: RefinementLoops;

beforeEach(() => {
  decided = [];
  loops = make();
});

refinementLoopsContract("local", async () => ({ loops: make(), close: async () => undefined }));

describe("refinement loops", () => {
  it("tell of every decision", async () => {
    const { id } = await loops.initialize({ owner, loop_type: "plan" });
    await loops.decide({ owner, loop_id: id, current_score: 50 });
    expect(decided).toEqual([
      { owner, id, loop_type: "plan", status: "refine", why: "not_good_enough", score: 50, iteration: 1 },
    ]);
  });

  it("take another id when one is taken, and give up at the bound", async () => {
    let asked = 0;
    const next = (): string => {
      asked += 1;
      return asked === MAX_ID_ATTEMPTS + 1 ? "bbbbbbbb" : "aaaaaaaa";
    };
    loops = make({ newId: next });
    expect(await loops.initialize({ owner, loop_type: "plan" })).toMatchObject({ id: "aaaaaaaa" });
    expect(await loops.initialize({ owner, loop_type: "plan" })).toMatchObject({ id: "bbbbbbbb" });
    expect(asked).toBe(MAX_ID_ATTEMPTS + 1);
    loops = make({ newId: () => "aaaaaaaa" });
    await loops.initialize({ owner, loop_type: "plan" });
    await expect(loops.initialize({ owner, loop_type: "plan" })).rejects.toMatchObject({ code: "loop_already_exists" });
  });

  it("say loop_state with loop and operation when they cannot be kept", async () => {
    const store = createMemoryLoopStore({ keepPerOwner: 10 });
    await store.close();
    loops = make({ store });
    await expect(loops.decide({ owner, loop_id: "aaaaaaaa", current_score: 1 })).rejects.toMatchObject({
      code: "loop_state",
      details: { loop_id: "aaaaaaaa", operation: "decide" },
    });
    await expect(loops.initialize({ owner, loop_type: "plan" })).rejects.toMatchObject({ code: "loop_state" });
    await expect(loops.list({ owner })).rejects.toMatchObject({ code: "loop_state" });
  });
});

function make(given: Partial<RefinementLoopsDeps> = {}): RefinementLoops {
  return createRefinementLoops({
    store: createMemoryLoopStore({ keepPerOwner: 10 }),
    clock: createSystemClock(),
    newId: createLoopIds(),
    bounds: DEFAULT_LOOP_BOUNDS,
    onDecided: (decision) => decided.push(decision),
    ...given,
  });
}
