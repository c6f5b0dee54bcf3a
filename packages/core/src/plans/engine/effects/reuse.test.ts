import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { callStep, createEngineWorld, type EngineWorld, planOf } from "../../../../testing/engine/engine-world.ts";
import { defineAction } from "../../../tools/define.ts";
import { REUSE_LOOK_BACK } from "./reuse.ts";

const worlds: EngineWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

function open(freshForMs: number | undefined, answer: () => boolean = () => true) {
  const world = createEngineWorld();
  worlds.push(world);
  let calls = 0;
  world.registry.register(
    defineAction({
      id: "look",
      description: "Looks.",
      effects: "read",
      argsSchema: z.object({ at: z.string(), size: z.int().default(1) }),
      ...(freshForMs === undefined ? {} : { freshForMs }),
      actionFn: async ({ args }) => {
        calls += 1;
        return { success: answer(), data: { call: calls, text: "x".repeat(args.size) } };
      },
    }),
  );
  const run = async (args: { at: string; size?: number }, sessionId = "s") => {
    const ref = { owner: "o", sessionId };
    await world.engine.executePlan({ ...ref, plan: planOf("p", [callStep("look", "look", args)]), create: true });
    await world.engine.settled(ref);
    return (await world.engine.readSession(ref)).history.at(-1)?.result;
  };
  return { world, run, calls: () => calls };
}

describe("the same call in the same session", () => {
  it("takes the earlier success while it is fresh, and shows that it did", async () => {
    const { world, run, calls } = open(60_000);
    const first = await run({ at: "a" });
    const second = await run({ at: "a" });
    expect(first).not.toHaveProperty("reused");
    expect(second).toEqual({ ...first, reused: expect.any(String) as string });
    expect(await run({ at: "a" })).toEqual(second);
    expect(calls()).toBe(1);
    const events = await world.store.readEvents({ afterSeq: 0, sessionId: "s", limit: 100 });
    expect(events.filter(({ type, data }) => type === "step-finished" && "reused" in data)).toHaveLength(2);
    expect(await world.store.readEnergy({ sessionId: "s" })).toMatchObject({ rows: 3 });
  });

  it("is made again for other arguments, in another session, and once it is no longer fresh", async () => {
    const { run, calls } = open(60_000);
    await run({ at: "a" });
    await run({ at: "b" });
    await run({ at: "a" }, "other");
    expect(calls()).toBe(3);
    const stale = open(1);
    await stale.run({ at: "a" });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await stale.run({ at: "a" });
    expect(stale.calls()).toBe(2);
  });

  it("is made again after a failure, and where nothing says that it stays fresh", async () => {
    const failing = open(60_000, () => false);
    await failing.run({ at: "a" });
    await failing.run({ at: "a" });
    expect(failing.calls()).toBe(2);
    const plain = open(undefined);
    await plain.run({ at: "a" });
    await plain.run({ at: "a" });
    expect(plain.calls()).toBe(2);
  });

  it("is looked for among the newest calls, up to the bound", async () => {
    const { world, run, calls } = open(60_000);
    await run({ at: "a" });
    const others = async (count: number): Promise<void> => {
      const ref = { owner: "o", sessionId: "s" };
      const steps = Array.from({ length: count }, (_, n) =>
        callStep(`e${String(n)}`, "probe::echo", { value: n }, n + 1 < count ? `e${String(n + 1)}` : undefined),
      );
      await world.engine.executePlan({ ...ref, plan: planOf("others", steps) });
      await world.engine.settled(ref);
    };
    await others(REUSE_LOOK_BACK - 1);
    await run({ at: "a" });
    expect(calls()).toBe(1);
    await others(REUSE_LOOK_BACK);
    await run({ at: "a" });
    expect(calls()).toBe(2);
  });

  it("takes a large result by its reference", async () => {
    const { run, calls } = open(60_000);
    const first = await run({ at: "a", size: 70_000 });
    const second = await run({ at: "a", size: 70_000 });
    expect(second).toMatchObject({
      output: { $blob: expect.any(String) as string },
      reused: expect.any(String) as string,
    });
    expect(second).toMatchObject(first ?? {});
    expect(calls()).toBe(1);
  });
});
