import { until } from "../../../../testing/until.ts";
import { describe, expect, it } from "vitest";
import { createEngineWorld, type EngineWorld, planOf } from "../../../../testing/engine/engine-world.ts";
import { createMortalStore, type Fate } from "../../../../testing/plans/mortal-store.ts";
import { createMemoryStateStore } from "../../../memory/state-store.ts";
import type { StateStore } from "../../../ports/state-store.ts";

const owner = "ann";
const pay = {
  owner,
  id: "order-A-1",
  plan: planOf("pay", [
    { id: "pay", type: "tool_call", toolId: "probe::pay", arguments: { value: 1 }, nextStepId: "done" },
    { id: "done", type: "final_response", message: "paid" },
  ]),
};

describe("a run with an id, whose process dies", () => {
  it.each<[Fate, string]>([
    ["lost", "before its first commit is written: the next start begins it"],
    ["written-and-dead", "after its first commit, before anybody heard of it: the next start finds it"],
  ])("%s: %s", async (fate) => {
    const kept = createMemoryStateStore();
    const dying = createEngineWorld({ store: dieAtFirst(kept, fate) });
    const unheard = dying.engine.startRun(pay);
    await until(() => firstCommits > 0);
    const before = (await kept.listSessions({ limit: 10 })).items.map(({ core }) => core.sessionId);
    expect(before).toHaveLength(fate === "lost" ? 0 : 1);

    const next = await nextWorld(kept);
    const { sessionId } = await next.engine.startRun(pay);
    expect(await next.engine.settled({ owner, sessionId })).toMatchObject({ status: "completed", run: 1 });
    if (fate !== "lost") expect(before).toEqual([sessionId]);
    expect((await kept.listSessions({ limit: 10 })).items).toHaveLength(1);
    expect((await next.engine.readSession({ owner, sessionId })).history).toHaveLength(1);
    expect(await Promise.race([unheard, Promise.resolve("not heard")])).toBe("not heard");
    await next.close();
  });

  it("is one run when two engines on one store start it at the same time", async () => {
    const store = createMemoryStateStore();
    const worlds = [createEngineWorld({ store }), createEngineWorld({ store })];
    const cores = await Promise.all(worlds.map(({ engine }) => engine.startRun(pay)));
    expect(new Set(cores.map(({ sessionId }) => sessionId)).size).toBe(1);
    const [{ sessionId } = { sessionId: "" }] = cores;
    expect(await worlds[0]?.engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    expect(await store.readJournal({ sessionId, order: "oldest", limit: 10 })).toHaveLength(1);
    for (const world of worlds) await world.close();
  });
});

let firstCommits = 0;

/** The commit that claims the run is the one at which the process dies. */
function dieAtFirst(store: StateStore, fate: Fate): StateStore {
  firstCommits = 0;
  return createMortalStore(store, ({ run }) => {
    if (run === undefined) return "written";
    firstCommits += 1;
    return fate;
  });
}

async function nextWorld(store: StateStore): Promise<EngineWorld> {
  const world = createEngineWorld({ store });
  await world.engine.recover();
  return world;
}
