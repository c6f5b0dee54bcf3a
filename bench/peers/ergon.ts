import { join } from "node:path";
import { type AgenticPlan, createSystemClock, silentLogger, ToolRegistry } from "@ergon/core";
import { createIds, MAX_PAGE_ROWS } from "@ergon/core/store-kit";
import { acknowledging, createEngine, createToolGate } from "@ergon/core/engine";
import { openFileBlobStore, openSqliteStateStore } from "@ergon/node";
import type { OpenContender } from "./contender.ts";

/**
 * Ergon as a program of one's own uses it, as it uses the peers; `ERGON_FSYNC` as its users set it. `BENCH_EFFECTS` says what
 * the step is, `BENCH_ANSWERS` whether the disk has what an answer says before it is given, as with every door.
 */
export const open: OpenContender = async ({ folder, stepped }) => {
  const fsync = process.env["ERGON_FSYNC"] === "always" ? "always" : "effects";
  const effects = process.env["BENCH_EFFECTS"] === "idempotent" ? "idempotent" : "pure";
  const store = openSqliteStateStore({ path: join(folder, "state.db") });
  const blobs = openFileBlobStore({ folder: join(folder, "blobs") });
  const clock = createSystemClock();
  const registry = new ToolRegistry();
  registry.register({
    definition: { id: "bench::nothing", description: "Does nothing.", parameters: { type: "object" }, effects },
    implementation: async () => {
      stepped();
      return null;
    },
  });
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  const ids = createIds({ clock });
  const plans = new Map<string, AgenticPlan>();
  const bare = createEngine({
    store,
    blobs,
    gate,
    registry,
    clock,
    ids,
    logger: silentLogger,
    plans: { get: (planId) => plans.get(planId), ids: () => [...plans.keys()] },
    fsyncEveryStep: fsync === "always",
  });
  const answersSynced = process.env["BENCH_ANSWERS"] === "synced";
  const engine = answersSynced ? acknowledging(bare, store) : bare;
  const byDefault = answersSynced ? "each answer synced" : "none but before `once`";
  const synced = fsync === "always" ? "every commit synced" : byDefault;
  return {
    synchronous: () => Promise.resolve(synced),
    run: async (steps) => {
      const plan = `chain-${String(steps)}`;
      if (!plans.has(plan)) plans.set(plan, chain(steps));
      const session = { owner: "bench", sessionId: ids.next("ses") };
      await engine.executePlan({ ...session, plan, create: true });
      const { status } = await engine.settled(session);
      if (status !== "completed") throw new Error(`A run ended as ${status}.`);
    },
    storedSteps: async () => {
      let stored = 0;
      let cursor: string | undefined;
      do {
        const page = await store.listSessions({ limit: MAX_PAGE_ROWS, ...(cursor === undefined ? {} : { cursor }) });
        for (const { core } of page.items) {
          for (let offset = 0; ; offset += MAX_PAGE_ROWS) {
            const { sessionId } = core;
            const query = { sessionId, settledOnly: true, order: "oldest", offset, limit: MAX_PAGE_ROWS } as const;
            const rows = await store.readJournal(query);
            stored += rows.length;
            if (rows.length < MAX_PAGE_ROWS) break;
          }
        }
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return stored;
    },
  };
};

function chain(length: number): AgenticPlan {
  return {
    planId: `chain-${String(length)}`,
    parameters: {},
    description: "Steps that do nothing.",
    startStepId: "step-1",
    steps: Array.from({ length }, (_, at) => ({
      id: `step-${String(at + 1)}`,
      type: "tool_call",
      toolId: "bench::nothing",
      arguments: {},
      ...(at + 1 === length ? {} : { nextStepId: `step-${String(at + 2)}` }),
    })),
  };
}
