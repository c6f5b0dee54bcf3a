import { expect, it } from "vitest";
import { createSimulatedClock } from "../../../../testing/simulated-clock.ts";
import { silentLogger } from "../../../memory/logger.ts";
import { createMemoryStateStore } from "../../../memory/state-store.ts";
import { PROGRESS_INTERVAL_MS, progressInto } from "./progress.ts";

it("keeps a call's progress no more often than the bound", async () => {
  const clock = createSimulatedClock();
  const store = createMemoryStateStore();
  const tell = progressInto(
    { store, clock, logger: silentLogger },
    { owner: "me", sessionId: "", stepId: "s", position: "1" },
  );
  for (let told = 0; told <= 4; told++) {
    tell({ fraction: told / 4 });
    clock.after(PROGRESS_INTERVAL_MS / 2, () => undefined);
    clock.jump();
  }
  await Promise.resolve();
  const events = await store.readEvents({ afterSeq: 0, limit: 100 });
  expect(events.map(({ data }) => data["fraction"])).toEqual([0, 0.5, 1]);
});
