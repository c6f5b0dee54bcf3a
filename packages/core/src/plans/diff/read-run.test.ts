import { describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf } from "../../../testing/engine/engine-world.ts";
import type { JournalWhole } from "../../ports/state-store.ts";
import { encodePosition } from "../position.ts";
import { MAX_COMPARED_CALLS } from "./read-run.ts";

const owner = "ann";
const at = "2026-01-01T00:00:00.000Z";

describe("reading a run for a comparison", () => {
  it("reads so many calls, and says when there are more", async () => {
    const { engine, store, close } = createEngineWorld();
    const { sessionId } = await engine.createSession({ owner });
    await engine.executePlan({ owner, sessionId, plan: planOf("p", [callStep("one", "probe::echo")]) });
    await engine.settled({ owner, sessionId });
    const more = (from: number, count: number) => {
      const journal = Array.from({ length: count }, (_, n): JournalWhole => {
        const position = encodePosition([1, from + n]);
        const call = {
          position,
          scope: "",
          stepId: "one",
          toolId: "t",
          effects: "pure",
          key: position,
          argsHash: "",
        } as const;
        const ended = { finishedAt: at, state: "finished", result: { output: n }, energyUnits: 0 } as const;
        return { ...call, ...ended, kind: "whole", request: {}, at };
      });
      return store.commit({ sessionId, owner, journal });
    };
    await more(1, MAX_COMPARED_CALLS - 1);
    const whole = await engine.diff({ owner, sessionId, withSessionId: sessionId });
    expect(whole).toMatchObject({ a: { calls: MAX_COMPARED_CALLS }, same: MAX_COMPARED_CALLS });
    await more(MAX_COMPARED_CALLS, 1);
    const cut = await engine.diff({ owner, sessionId, withSessionId: sessionId });
    expect(cut).toMatchObject({ a: { calls: MAX_COMPARED_CALLS }, isCut: true });
    await close();
  }, 60_000);
});
