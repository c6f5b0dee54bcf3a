import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, type EngineWorld, planOf } from "../../../../testing/index.ts";
import { createMemoryLogger, silentLogger } from "../../../memory/logger.ts";
import { acknowledging, syncEnds } from "./acknowledging.ts";
import { createEngine, type EmbeddedEngine } from "../engine.ts";

let world: EngineWorld;
afterEach(() => world.close());

describe("an engine whose answers are told outside", () => {
  it("gives none of them before the disk has what it says", async () => {
    const { bare, told, syncs } = open();
    const owner = "me";
    const asking = planOf("asks", [{ id: "ask", type: "human_in_the_loop", message: "?" }]);
    const once = (sessionId: string) => ({ owner, sessionId, plan: asking, create: true });
    await answered(told.createSession({ owner, sessionId: "made" }));
    await answered(told.executePlan(once("s")));
    await answered(told.settled({ owner, sessionId: "s" }));
    await answered(told.resume({ owner, sessionId: "s", input: "yes" }));
    await answered(told.settled({ owner, sessionId: "s" }));
    await answered(told.fork({ owner, sessionId: "s", fromStep: "ask", newSessionId: "f" }));
    await answered(told.cancel({ owner, sessionId: "f" }));
    // In the process itself an answer is given when the store has it.
    const before = syncs();
    await bare.executePlan(once("t"));
    expect((await bare.settled({ owner, sessionId: "t" })).status).toBe("paused_on_human");
    expect(syncs()).toBe(before);
    await bare.close();

    async function answered(answer: Promise<unknown>): Promise<void> {
      let isGiven = false;
      void answer.then(() => (isGiven = true));
      const asked = syncs();
      for (let turns = 0; syncs() === asked && turns < 100; turns += 1) await new Promise(setImmediate);
      for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
      expect([syncs() > asked, isGiven]).toEqual([true, false]);
      finish();
      await answer;
    }
  });

  it("refuses what the disk did not take", async () => {
    world = createEngineWorld();
    const store = { ...world.store, sync: () => Promise.reject(new Error("no disk")) };
    const plans = { get: () => undefined, ids: () => [] };
    const bare = createEngine({ ...world, store, plans, logger: silentLogger });
    const plan = planOf("echo", [callStep("one", "probe::echo")]);
    const run = acknowledging(bare, store).executePlan({ owner: "me", sessionId: "s", plan, create: true });
    await expect(run).rejects.toThrow("no disk");
    await bare.close();
  });
});

describe("ends that nobody waits for", () => {
  it("are given to the disk all the same, until that is stopped", async () => {
    world = createEngineWorld();
    let syncs = 0;
    const logger = createMemoryLogger();
    const sync = (): Promise<void> => {
      syncs += 1;
      return Promise.reject(new Error("no disk"));
    };
    const stop = syncEnds({ ...world.store, sync }, logger);
    const plan = planOf("echo", [callStep("one", "probe::echo")]);
    await world.engine.executePlan({ owner: "me", sessionId: "s", plan, create: true });
    await world.engine.settled({ owner: "me", sessionId: "s" });
    const before = syncs;
    expect(before).toBeGreaterThan(0);
    expect(logger.entries().length).toBe(before);
    await world.store.commit({ sessionId: "s", owner: "me", events: [{ type: "step-progressed", at: "", data: {} }] });
    expect(syncs).toBe(before);
    stop();
    await world.store.commit({ sessionId: "s", owner: "me", events: [{ type: "session-paused", at: "", data: {} }] });
    expect(syncs).toBe(before);
  });
});

let finish: () => void = () => undefined;

function open(): { readonly bare: EmbeddedEngine; readonly told: EmbeddedEngine; readonly syncs: () => number } {
  world = createEngineWorld();
  let syncs = 0;
  const sync = (): Promise<void> => {
    syncs += 1;
    return new Promise((resolve) => {
      finish = resolve;
    });
  };
  const store = { ...world.store, sync };
  const bare = createEngine({ ...world, store, plans: { get: () => undefined, ids: () => [] }, logger: silentLogger });
  return { bare, told: acknowledging(bare, store), syncs: () => syncs };
}
