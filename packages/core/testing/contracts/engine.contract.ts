import { afterEach, describe } from "vitest";
import type { Engine } from "../../src/ports/engine.ts";
import { callRules } from "../engine/calls.ts";
import { createEngineWorld, type EngineWorld, type OpenWorld } from "../engine/engine-world.ts";
import { diffRules } from "../engine/diffs.ts";
import { eventRules } from "../engine/events.ts";
import { forkRules } from "../engine/forks.ts";
import { isolationRules } from "../engine/isolation.ts";
import { readingRules } from "../engine/reading.ts";
import { namedRunRules } from "../engine/named-runs.ts";
import { runningRules } from "../engine/running.ts";
import { waitRules } from "../engine/waits.ts";

export type OpenedEngine = { readonly engine: Engine; readonly close: () => Promise<void> };

/** What every Engine must do. `open` gives one that works through the engine of a world that the suite makes. */
export function engineContract(name: string, open: (world: EngineWorld) => Promise<OpenedEngine>): void {
  const closers: (() => Promise<void>)[] = [];
  const openWorld: OpenWorld = async () => {
    const world = createEngineWorld();
    closers.push(world.close);
    const { engine, close } = await open(world);
    closers.push(close);
    return { engine, world };
  };

  describe(`the engine contract: ${name}`, () => {
    afterEach(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });
    runningRules(openWorld);
    callRules(openWorld);
    namedRunRules(openWorld);
    waitRules(openWorld);
    forkRules(openWorld);
    diffRules(openWorld);
    readingRules(openWorld);
    eventRules(openWorld);
    isolationRules(openWorld);
  });
}
