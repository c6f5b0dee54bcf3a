import { describe, expect, it } from "vitest";
import { createSimulatedClock } from "../../../../testing/simulated-clock.ts";
import { storeError } from "../../../errors/store.ts";
import { silentLogger } from "../../../memory/logger.ts";
import { createMemoryStateStore } from "../../../memory/state-store.ts";
import type { Commit, StateStore } from "../../../ports/state-store.ts";
import { createOrderedCommits } from "./ordered-commits.ts";

describe("a run's commits that do not wait for one another", () => {
  it("are written in order, though the store took none of them for a while", async () => {
    const { store, clock, write } = await opened({ refusals: 5 });
    const writes = Promise.all([1, 2, 3].map((n) => write(update(n))));
    let done = false;
    void writes.finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise(setImmediate);
      clock.jump();
    }
    await writes;
    expect(await store.readSession("s")).toMatchObject({ version: 4, core: { updatedAt: "3" } });
  });

  it("are all refused when one can never be written", async () => {
    const { write } = await opened({ refusals: 0 });
    const outcomes = await Promise.allSettled([write(update(7)), write(update(8))]);
    expect(outcomes).toMatchObject([
      { status: "rejected", reason: { code: "session_conflict" } },
      { status: "rejected", reason: { code: "session_conflict" } },
    ]);
  });
});

async function opened({ refusals }: { readonly refusals: number }) {
  const clock = createSimulatedClock();
  const store = createMemoryStateStore();
  await store.commit({ ...update(0), expectVersion: 0 });
  let left = refusals;
  const commit: StateStore["commit"] = (given) =>
    left-- > 0 ? Promise.reject(storeError("store_unavailable", "The disk is full.")) : store.commit(given);
  const deps = { clock, logger: silentLogger, stopping: new AbortController().signal, store: { ...store, commit } };
  return { store, clock, write: createOrderedCommits(deps) };
}

function update(version: number): Commit {
  const core = {
    sessionId: "s",
    status: "running",
    createdAt: "0",
    updatedAt: String(version),
    waiting: [],
    run: 1,
    energySpent: 0,
  } as const;
  return {
    sessionId: "s",
    owner: "me",
    expectVersion: version,
    session: { core: { ...core, waiting: [] }, cursor: {} },
  };
}
