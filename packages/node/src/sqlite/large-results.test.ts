import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@ergon/core";
import { MAX_CONCURRENCY } from "@ergon/core/schema";
import { createEngine } from "@ergon/core/engine";
import { callStep, createEngineWorld, planOf } from "@ergon/core/testing";
import { afterAll, describe, expect, it } from "vitest";
import { openSqliteStateStore } from "./state/state-store.ts";

const owner = "me";
const folder = mkdtempSync(join(tmpdir(), "ergon-large-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("results that are just small enough to be kept in their rows", () => {
  it.each([20, MAX_CONCURRENCY])(
    "are written in commits of a size that a store takes, %i at a time",
    async (concurrency) => {
      const world = createEngineWorld();
      world.registry.register({
        definition: { id: "large::result", description: "Large.", parameters: { type: "object" }, effects: "pure" },
        implementation: () => "x".repeat(60_000),
      });
      const store = openSqliteStateStore({ path: join(folder, `${String(concurrency)}.db`) });
      const plans = { get: () => undefined, ids: () => [] };
      const engine = createEngine({ ...world, store, plans, logger: silentLogger });
      const loopPlan = [callStep("t", "large::result")];
      const collectionPath = { jsonPath: "$.promptInput.items" };
      const plan = planOf("many", [
        { id: "l", type: "loop_over_items", itemAlias: "n", loopPlan, concurrency, collectionPath },
      ]);
      const items = Array.from({ length: 600 }, (_, n) => n);
      await engine.executePlan({ owner, sessionId: "s", plan, input: { items }, create: true });
      expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
      await engine.close();
      await store.close();
      await world.close();
    },
  );
});
