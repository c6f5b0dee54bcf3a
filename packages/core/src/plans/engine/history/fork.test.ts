import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../../../testing/engine/engine-world.ts";
import type { JournalWhole } from "../../../ports/state-store.ts";
import { encodePosition } from "../../position.ts";
import { MAX_FORK_CHARS, MAX_FORK_ROWS } from "./fork.ts";
import { MAX_TRAIL_ROWS } from "./run-trail.ts";

const owner = "ann";
const COMMIT_ROWS = 10_000;

describe("what a fork takes along", () => {
  let world: EngineWorld | undefined;
  afterEach(async () => {
    await world?.close();
  });

  it("is at most so many calls", async () => {
    const sessionId = await ended();
    await addHistory(sessionId, MAX_FORK_ROWS, "x");
    const fork = await engine().fork({ owner, sessionId, fromStep: "one" });
    expect(await engine().settled({ owner, sessionId: fork.sessionId })).toMatchObject({ status: "completed" });
    await addHistory(sessionId, 1, "x", MAX_FORK_ROWS);
    await expect(engine().fork({ owner, sessionId, fromStep: "one" })).rejects.toMatchObject({
      code: "fork_too_large",
    });
  }, 60_000);

  it("is at most so many characters", async () => {
    const sessionId = await ended();
    const rows = 1_000;
    const output = "x".repeat(Math.floor(MAX_FORK_CHARS / rows) - 400);
    await addHistory(sessionId, rows, output);
    await engine().fork({ owner, sessionId, fromStep: "one" });
    await addHistory(sessionId, rows / 10, output, rows);
    await expect(engine().fork({ owner, sessionId, fromStep: "one" })).rejects.toMatchObject({
      code: "fork_too_large",
    });
  }, 60_000);

  it("is at most so long a trail", async () => {
    const sessionId = await ended();
    const commit = (from: number, count: number) =>
      world?.store.commit({
        sessionId,
        owner,
        context: Array.from({ length: count }, (_, n) => ({
          scope: `@${encodePosition([1, 10 + from + n])}`,
          key: "@step",
          value: { kind: "inline", value: "one" },
        })),
      });
    for (let from = 0; from < MAX_TRAIL_ROWS; from += COMMIT_ROWS) await commit(from, COMMIT_ROWS);
    await engine().fork({ owner, sessionId, fromStep: "one" });
    await commit(MAX_TRAIL_ROWS, 1);
    await expect(engine().fork({ owner, sessionId, fromStep: "one" })).rejects.toMatchObject({
      code: "fork_too_large",
    });
  }, 60_000);

  it("is shared where it is large: the same blob, put once", async () => {
    const sessionId = await ended(
      planOf("large", [callStep("one", "probe::large", { characters: 70_000 }, "two"), callStep("two", "probe::echo")]),
    );
    const fork = await engine().fork({ owner, sessionId, fromStep: "two" });
    await engine().settled({ owner, sessionId: fork.sessionId });
    const [source, forked] = await Promise.all([
      engine().readSession({ owner, sessionId }),
      engine().readSession({ owner, sessionId: fork.sessionId }),
    ]);
    expect(forked.context["probe::large_result"]).toMatchObject({ $blob: expect.any(String) });
    expect(forked.context["probe::large_result"]).toEqual(source.context["probe::large_result"]);
    expect(forked.core.energySpent).toBeLessThan(source.core.energySpent);
  });

  it("calls with keys of its own", async () => {
    const sessionId = await ended();
    const fork = await engine().fork({ owner, sessionId, fromStep: "one" });
    await engine().settled({ owner, sessionId: fork.sessionId });
    const keys = await Promise.all(
      [sessionId, fork.sessionId].map(async (id) => {
        const rows = await world?.store.readJournal({ sessionId: id, order: "oldest", limit: 10 });
        return rows?.map(({ key }) => key.replace(id, "SESSION"));
      }),
    );
    expect(keys[0]).toEqual(keys[1]);
    expect(keys[0]?.[0]).toContain("SESSION");
  });

  function engine(): EngineWorld["engine"] {
    if (world === undefined) throw new Error("There is no world yet.");
    return world.engine;
  }

  async function ended(plan = planOf("short", [callStep("one", "probe::echo")])): Promise<string> {
    world = createEngineWorld();
    const { sessionId } = await world.engine.createSession({ owner });
    await world.engine.executePlan({ owner, sessionId, plan });
    await world.engine.settled({ owner, sessionId });
    return sessionId;
  }

  /** Calls of a time before the plan. */
  async function addHistory(sessionId: string, count: number, output: string, from = 0): Promise<void> {
    const at = "2026-01-01T00:00:00.000Z";
    for (let done = 0; done < count; done += COMMIT_ROWS) {
      const journal = Array.from({ length: Math.min(COMMIT_ROWS, count - done) }, (_, n): JournalWhole => {
        const position = encodePosition([0, from + done + n]);
        const call = {
          position,
          scope: "",
          toolId: "probe::echo",
          effects: "pure",
          key: position,
          argsHash: "",
          request: {},
        } as const;
        return { ...call, kind: "whole", at, finishedAt: at, state: "finished", result: { output }, energyUnits: 0 };
      });
      await world?.store.commit({ sessionId, owner, journal });
    }
  }
});
