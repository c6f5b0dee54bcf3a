import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { callStep, createEngineWorld, type EngineWorld, planOf } from "../../../testing/engine/engine-world.ts";
import { SECRET_SAMPLES } from "../../../testing/secret-samples.ts";
import { defineAction } from "../../tools/define.ts";

let world: EngineWorld | undefined;
afterEach(async () => world?.close());

describe("events", () => {
  it("show no credential that an action names in its own failure", async () => {
    world = createEngineWorld();
    const [sample] = SECRET_SAMPLES;
    const message = `The service refused ${sample?.text ?? ""}.`;
    world.registry.register(
      defineAction({
        id: "refused",
        description: "Is refused.",
        effects: "read",
        argsSchema: z.object({}),
        actionFn: async () => ({ success: false, error: { type: "denied", message } }),
      }),
    );
    const ref = { owner: "o", sessionId: "s" };
    await world.engine.executePlan({ ...ref, plan: planOf("p", [callStep("a", "refused", {})]), create: true });
    await world.engine.settled(ref);
    const events = await world.store.readEvents({ afterSeq: 0, sessionId: "s", limit: 100 });
    const failure = { code: "denied", message: "The service refused [redacted]." };
    expect(events.find(({ type }) => type === "step-finished")?.data).toMatchObject({ failure });
  });
});
