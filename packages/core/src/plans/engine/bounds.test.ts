import { afterEach, describe, expect, it } from "vitest";
import { callStep, createEngineWorld, planOf, type EngineWorld } from "../../../testing/engine/engine-world.ts";
import { madeOf } from "../../../testing/state-store/made.ts";
import { type AgenticPlan, MAX_CONCURRENCY } from "../../schema/plan.ts";
import { cursorOf } from "../cursor.ts";
import { storeError } from "../../errors/store.ts";
import { createBlobCache } from "./effects/blob-cache.ts";
import { createEngine } from "./engine.ts";
import { silentLogger } from "../../memory/logger.ts";
import { MAX_WAIT_MESSAGE } from "./effects/evaluate-step.ts";
import { MAX_JOURNAL_VALUES_PER_COMMIT, MAX_TRANSITIONS_PER_COMMIT } from "./run/commit-builder.ts";
import { MAX_STEPS_AHEAD, MAX_STEPS_UNWRITTEN } from "./run/commit-writer.ts";
import { PLAN_CACHE_SIZE } from "./run/compiled-plans.ts";
import { RECOVERY_PARALLEL } from "./run/recovery.ts";
import { MAX_OPENING_PLAN_CHARS, MAX_OPENING_ROWS } from "./run/run.ts";
import { createRunPool } from "./run/run-pool.ts";
import { HISTORY_PAGE } from "./session-reader.ts";

const owner = "me";
let world: EngineWorld;
afterEach(() => world.close());

describe("the engine's bounds", () => {
  it("reads the newest page of history, with a cursor to the rest", async () => {
    world = createEngineWorld();
    const steps = callStep("t", "probe::echo", { value: { jsonPath: "$.context.n" } });
    const collectionPath = { jsonPath: "$.promptInput.items" };
    const plan = planOf("many", [
      { id: "l", type: "loop_over_items", itemAlias: "n", loopPlan: [steps], concurrency: 50, collectionPath },
    ]);
    const items = Array.from({ length: HISTORY_PAGE + 1 }, (_, index) => index);
    await world.engine.executePlan({ owner, sessionId: "s", plan, input: { items }, create: true });
    await world.engine.settled({ owner, sessionId: "s" });
    const page = await world.engine.readSession({ owner, sessionId: "s" });
    expect(page.history).toHaveLength(HISTORY_PAGE);
    expect(page.history.at(-1)?.request).toEqual({ value: HISTORY_PAGE });
    const rest = await world.engine.readSession({ owner, sessionId: "s", historyCursor: page.nextCursor ?? "" });
    expect(rest.history.map(({ request }) => request)).toEqual([{ value: 0 }]);
    expect(rest.nextCursor).toBeUndefined();
  });

  it("lets a cycle that only thinks be cancelled, and others have their turn", async () => {
    world = createEngineWorld();
    const condition = { left: { jsonPath: "$.promptInput.stop" }, operator: "equals", right: true } as const;
    const again = { nextStepId: "c" };
    const spin = planOf("spin", [{ id: "c", type: "conditional_branch", condition, onTrue: {}, onFalse: again }]);
    await world.engine.executePlan({ owner, sessionId: "s", plan: spin, input: { stop: false }, create: true });
    const record = await world.store.readSession("s");
    const index = (record && cursorOf(record))?.root.index ?? 0;
    expect(index).toBeGreaterThan(0);
    expect(index % MAX_TRANSITIONS_PER_COMMIT).toBe(0);
    const other = planOf("other", [callStep("a", "probe::echo", { value: 1 })]);
    await world.engine.executePlan({ owner, sessionId: "o", plan: other, create: true });
    expect((await world.engine.settled({ owner, sessionId: "o" })).status).toBe("completed");
    expect((await world.engine.cancel({ owner, sessionId: "s" })).status).toBe("cancelled");
  });

  it("cuts a question that nobody could read", async () => {
    world = createEngineWorld();
    const ask = planOf("ask", [{ id: "h", type: "human_in_the_loop", message: "{{$.promptInput.text}}" }]);
    const input = { text: "x".repeat(MAX_WAIT_MESSAGE + 1) };
    await world.engine.executePlan({ owner, sessionId: "s", plan: ask, input, create: true });
    const { waiting } = await world.engine.settled({ owner, sessionId: "s" });
    expect(waiting[0]?.message).toBe("x".repeat(MAX_WAIT_MESSAGE));
  });

  it("brings back so many sessions at once, and all of them in the end", async () => {
    world = createEngineWorld();
    const ask = planOf("hold", [callStep("a", "probe::hold")]);
    const count = RECOVERY_PARALLEL + 20;
    for (let n = 0; n < count; n++) {
      await world.engine.executePlan({ owner, sessionId: `s${String(n)}`, plan: ask, create: true });
    }
    await world.engine.close();
    let opening = 0;
    let most = 0;
    const readContext: typeof world.store.readContext = async (...query) => {
      most = Math.max(most, ++opening);
      await world.clock.sleep(1);
      opening--;
      return world.store.readContext(...query);
    };
    const plans = { get: () => undefined, ids: () => [] };
    const second = createEngine({ ...world, store: { ...world.store, readContext }, plans, logger: silentLogger });
    expect(await second.recover()).toEqual({ takenUp: count });
    expect(most).toBe(RECOVERY_PARALLEL);
    expect(second.activeRuns()).toBe(count);
    await second.close();
  });

  it("lets others have their turn while it brings sessions back", async () => {
    world = createEngineWorld();
    const hold = planOf("hold", [callStep("a", "probe::hold")]);
    const count = 2 * RECOVERY_PARALLEL;
    for (let n = 0; n < count; n++) {
      await world.engine.executePlan({ owner, sessionId: `s${String(n)}`, plan: hold, create: true });
    }
    await world.engine.close();
    const plans = { get: () => undefined, ids: () => [] };
    const second = createEngine({ ...world, plans, logger: silentLogger });
    const recovered = second.recover();
    await world.clock.sleep(0);
    expect(second.activeRuns()).toBeLessThan(count);
    expect(await recovered).toEqual({ takenUp: count });
    await second.close();
  });

  it("runs so many commits ahead of the disk, and tells nobody of them before they are on it (E6)", async () => {
    world = createEngineWorld();
    const disk = Promise.withResolvers<void>();
    const store = { ...world.store, sync: () => disk.promise };
    const plans = { get: () => undefined, ids: () => [] };
    const engine = createEngine({ ...world, store, plans, logger: silentLogger, fsyncEveryStep: true });
    const ids = Array.from({ length: 2 * MAX_STEPS_AHEAD }, (_, n) => `t${String(n)}`);
    const plan = planOf(
      "chain",
      ids.map((id, n) => ({ ...callStep(id, "probe::echo", { value: n }), nextStepId: ids[n + 1] })),
    );
    let told = false;
    const started = engine.executePlan({ owner, sessionId: "s", plan, create: true }).finally(() => {
      told = true;
    });
    const commits = async (): Promise<number> => (await world.store.readSession("s"))?.version ?? 0;
    while ((await commits()) < MAX_STEPS_AHEAD) await world.clock.sleep(1);
    await world.clock.sleep(20);
    expect(await commits()).toBe(MAX_STEPS_AHEAD);
    expect(told).toBe(false);
    disk.resolve();
    await started;
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    await engine.close();
  });

  it.each([
    { effects: "pure", begun: MAX_STEPS_UNWRITTEN },
    { effects: "read", begun: MAX_STEPS_UNWRITTEN },
    { effects: "idempotent", begun: 1 },
    { effects: "once", begun: 1 },
  ] as const)("begins $begun $effects calls while the store writes (E1)", async ({ effects, begun }) => {
    world = createEngineWorld();
    const written = Promise.withResolvers<void>();
    let calls = 0;
    world.registry.register({
      definition: { id: "count::call", description: "Counts.", parameters: { type: "object" }, effects },
      implementation: () => ++calls,
    });
    const commit: typeof world.store.commit = async (given) => {
      const receipt = await world.store.commit(given);
      if (calls > 0) await written.promise;
      return receipt;
    };
    const plans = { get: () => undefined, ids: () => [] };
    const engine = createEngine({ ...world, store: { ...world.store, commit }, plans, logger: silentLogger });
    const ids = Array.from({ length: 3 * MAX_STEPS_UNWRITTEN }, (_, n) => `t${String(n)}`);
    const plan = planOf(
      "chain",
      ids.map((id, n) => ({ ...callStep(id, "count::call"), nextStepId: ids[n + 1] })),
    );
    await engine.executePlan({ owner, sessionId: "s", plan, create: true });
    await world.clock.sleep(20);
    expect(calls).toBe(begun);
    written.resolve();
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    expect(calls).toBe(ids.length);
    await engine.close();
  });

  const plain = planOf("plain", [callStep("a", "count::call")]);
  /** A plan whose text has so many characters. */
  const longPlan = (chars: number): AgenticPlan => {
    const saying = (message: string) =>
      planOf("long", [callStep("a", "count::call", {}, "say"), { id: "say", type: "final_response", message }]);
    return saying("x".repeat(chars - JSON.stringify(saying("")).length));
  };
  const contextOf = (rows: number) => Object.fromEntries(Array.from({ length: rows }, (_, n) => [`k${String(n)}`, n]));

  it.each([
    { brings: "little", begun: 1, plan: plain, context: {} },
    { brings: "as many rows as it may", begun: 1, plan: plain, context: contextOf(MAX_OPENING_ROWS) },
    { brings: "a row too many", begun: 0, plan: plain, context: contextOf(MAX_OPENING_ROWS + 1) },
    { brings: "as long a plan as it may", begun: 1, plan: longPlan(MAX_OPENING_PLAN_CHARS), context: {} },
    { brings: "a longer plan", begun: 0, plan: longPlan(MAX_OPENING_PLAN_CHARS + 1), context: {} },
  ])("begins $begun pure calls while the store writes a first commit that brings $brings (E1)", async (first) => {
    const { begun, plan, context } = first;
    world = createEngineWorld();
    const written = Promise.withResolvers<void>();
    let calls = -1;
    world.registry.register({
      definition: { id: "count::call", description: "Counts.", parameters: { type: "object" }, effects: "pure" },
      implementation: () => ++calls,
    });
    // A tool's code is loaded at its first call.
    await world.engine.executePlan({ owner, sessionId: "earlier", plan: plain, create: true });
    await world.engine.settled({ owner, sessionId: "earlier" });
    const commit: typeof world.store.commit = async (given) => {
      await written.promise;
      return world.store.commit(given);
    };
    const plans = { get: () => undefined, ids: () => [] };
    const engine = createEngine({ ...world, store: { ...world.store, commit }, plans, logger: silentLogger });
    const started = engine.executePlan({ owner, sessionId: "s", plan, context, create: true });
    await world.clock.sleep(20);
    expect(calls).toBe(begun);
    written.resolve();
    await started;
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    expect(calls).toBe(1);
    await engine.close();
  });

  it("ends a commit at so many requests and results, however many calls end at once", async () => {
    world = createEngineWorld();
    const sizes: number[] = [];
    const commit: typeof world.store.commit = async (given) => {
      // Every call of a wave has ended by then.
      await world.clock.sleep(1);
      const made = madeOf(given);
      sizes.push((made.journal ?? []).reduce((values, { kind }) => values + (kind === "whole" ? 2 : 1), 0));
      return world.store.commit(made);
    };
    const plans = { get: () => undefined, ids: () => [] };
    const engine = createEngine({ ...world, store: { ...world.store, commit }, plans, logger: silentLogger });
    const loopPlan = [callStep("t", "probe::echo", { value: 1 })];
    const collectionPath = { jsonPath: "$.promptInput.items" };
    const plan = planOf("many", [
      { id: "l", type: "loop_over_items", itemAlias: "n", loopPlan, concurrency: MAX_CONCURRENCY, collectionPath },
    ]);
    const items = Array.from({ length: 2 * MAX_CONCURRENCY }, (_, n) => n);
    await engine.executePlan({ owner, sessionId: "s", plan, input: { items }, create: true });
    expect((await engine.settled({ owner, sessionId: "s" })).status).toBe("completed");
    expect(Math.max(...sizes)).toBe(MAX_JOURNAL_VALUES_PER_COMMIT);
    await engine.close();
  });

  it("refuses an answer that can never be written, instead of leaving its giver to wait", async () => {
    world = createEngineWorld();
    let refusing = false;
    const commit: typeof world.store.commit = (given) =>
      refusing ? Promise.reject(storeError("commit_invalid", "Too much.")) : world.store.commit(given);
    const plans = { get: () => undefined, ids: () => [] };
    const engine = createEngine({ ...world, store: { ...world.store, commit }, plans, logger: silentLogger });
    const ask = planOf("ask", [{ id: "h", type: "human_in_the_loop", message: "Well?" }]);
    await engine.executePlan({ owner, sessionId: "s", plan: ask, create: true });
    await engine.settled({ owner, sessionId: "s" });
    refusing = true;
    const answer = engine.resume({ owner, sessionId: "s", input: { yes: true } });
    await expect(answer).rejects.toMatchObject({ code: "commit_invalid" });
    await engine.close();
  });

  it("keeps so many compiled plans, the newest ones", () => {
    world = createEngineWorld();
    const deps = { ...world, logger: silentLogger, blobCache: createBlobCache(world) };
    const pool = createRunPool({ deps, record: () => Promise.reject(new Error("unused")), onCommit: () => undefined });
    const plan = planOf("p", [callStep("a", "probe::echo")]);
    const first = pool.compiled("0", plan);
    for (let n = 1; n < PLAN_CACHE_SIZE; n++) pool.compiled(String(n), plan);
    expect(pool.compiled("0", plan)).toBe(first);
    pool.compiled("one more", plan);
    expect(pool.compiled("0", plan)).not.toBe(first);
  });
});
