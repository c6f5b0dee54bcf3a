import { afterEach, describe, expect, it } from "vitest";
import first from "../../testing/cursors/version-1.json" with { type: "json" };
import second from "../../testing/cursors/version-2.json" with { type: "json" };
import { toldBy } from "../../testing/cursors/told-by.ts";
import { createEngineWorld, planOf, type EngineWorld } from "../../testing/engine/engine-world.ts";
import { createMemoryLogger } from "../memory/logger.ts";
import type { AgenticPlan } from "../schema/plan.ts";
import type { SessionCore } from "../schema/session.ts";
import type { Json } from "../schema/values/json.ts";
import { CURSOR_VERSION, cursorOf, storedCursor, type Cursor } from "./cursor.ts";
import { createEngine, type EmbeddedEngine } from "./engine/engine.ts";

/** What the engine stored when each version was the newest, and what it would have done next. */
type Golden = { readonly plan: AgenticPlan; readonly cursor: Json; readonly told: readonly string[] };
const golden = new Map([
  [1, first as unknown as Golden[]],
  [2, second as unknown as Golden[]],
]);

const root = { at: "a", index: 0, state: { kind: "ready" } };
const read = (cursor: Json): Cursor | null => cursorOf({ core: { sessionId: "s" } as SessionCore, cursor });

describe("a stored cursor", () => {
  it("has golden cursors of every version", () => {
    expect([...golden.keys()]).toEqual(Array.from({ length: CURSOR_VERSION }, (_, at) => at + 1));
  });

  it.each([...golden])("of version %i is read, and the run goes on as it would have then", (version, cursors) => {
    for (const { plan, cursor: stored, told } of cursors) {
      const cursor = read(stored);
      if (cursor === null) throw new Error("It is null.");
      expect(toldBy(plan, cursor)).toEqual(told);
      const again = JSON.parse(JSON.stringify(storedCursor(cursor))) as Json;
      expect(read(again)).toEqual(cursor);
      // Nothing of the newest version is lost by reading and writing it.
      if (version === CURSOR_VERSION) expect(again).toEqual(stored);
    }
  });

  it("of a newer version is refused, and says to upgrade", () => {
    expect(() => read({ version: CURSOR_VERSION + 1, run: 1, root, more: true })).toThrow(
      expect.objectContaining({ code: "store_newer", message: expect.stringMatching(/Upgrade Ergon/) }),
    );
  });

  it.each([
    [7],
    [{}],
    [{ version: "2", run: 1, root }],
    [{ version: 2, run: 1, root: { ...root, state: { kind: "flying" } } }],
    [{ version: 2, run: 1, root: { ...root, slot: 1 } }],
    [{ version: 2, run: 1, root: { ...root, state: { kind: "spread", count: 1, next: 1, kids: { x: root } } } }],
    [{ run: 1, root: { at: "a", state: { kind: "ready" } } }],
  ] as Json[][])("that is %j is refused", (cursor = null) => {
    expect(() => read(cursor)).toThrow(expect.objectContaining({ code: "store_corrupt" }));
  });
});

describe("a session whose cursor another Ergon wrote", () => {
  const owner = "me";
  const ask = planOf("ask", [{ id: "a", type: "human_in_the_loop", message: "Well?" }]);
  const logger = createMemoryLogger();
  let world: EngineWorld;
  let engine: EmbeddedEngine | undefined;
  afterEach(async () => {
    await engine?.close();
    await world.close();
  });

  /** Sessions that wait for a person, each as its cursor was stored, in a process that has just begun. */
  async function stored(cursors: Readonly<Record<string, (state: object) => Json>>): Promise<EmbeddedEngine> {
    world = createEngineWorld();
    for (const [sessionId, cursor] of Object.entries(cursors)) {
      await world.engine.executePlan({ owner, sessionId, plan: ask, create: true });
      const record = await world.store.readSession(sessionId);
      if (record === undefined) throw new Error("It is gone.");
      const { core, version } = record;
      const session = { core, cursor: cursor(cursorOf(record)?.root.state ?? {}) };
      await world.store.commit({ sessionId, owner, session, expectVersion: version });
    }
    await world.engine.close();
    engine = createEngine({ ...world, plans: { get: () => undefined, ids: () => [] }, logger });
    return engine;
  }

  const older = (state: object): Json => ({ run: 1, root: { at: "a", slot: 0, state: { ...state } } });
  const newer = (state: object): Json => ({
    version: CURSOR_VERSION + 1,
    run: 1,
    root: { ...root, state: { ...state } },
  });

  it("goes on where it was, if that Ergon was older", async () => {
    const { resume, settled } = await stored({ s: older });
    await resume({ owner, sessionId: "s", input: "yes" });
    expect((await settled({ owner, sessionId: "s" })).status).toBe("completed");
  });

  it("stays as it is, if that Ergon was newer, and others go on", async () => {
    const { recover, resume, cancel, settled } = await stored({ new: newer, old: older });
    await recover();
    expect(logger.entries()).toMatchObject([
      { level: "error", fields: { sessionId: "new", error: { code: "store_newer" } } },
    ]);
    for (const call of [resume, cancel])
      await expect(call({ owner, sessionId: "new" })).rejects.toMatchObject({ code: "store_newer" });
    expect((await world.store.readSession("new"))?.cursor).toMatchObject({ version: CURSOR_VERSION + 1 });
    await resume({ owner, sessionId: "old", input: 1 });
    expect((await settled({ owner, sessionId: "old" })).status).toBe("completed");
  });

  it("can be cancelled, if it cannot be read at all", async () => {
    const { cancel } = await stored({ s: () => ({ run: 1 }) });
    expect((await cancel({ owner, sessionId: "s" })).status).toBe("cancelled");
  });
});
