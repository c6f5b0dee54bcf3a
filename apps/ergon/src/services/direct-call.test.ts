import {
  createIds,
  createMemoryBlobStore,
  createMemoryStateStore,
  createSystemClock,
  createToolGate,
  INLINE_LIMIT_BYTES,
  isBlobRef,
  silentLogger,
  type StateStore,
  type ToolDefinition,
  ToolRegistry,
  type ToolRun,
} from "@ergon/core";
import { beforeEach, describe, expect, it } from "vitest";
import { callDirectly, type DirectCall, type DirectCallDeps, type DirectResult } from "./direct-call.ts";

let store: StateStore;
let deps: DirectCallDeps;
let blobs: ReturnType<typeof createMemoryBlobStore>;
let registry: ToolRegistry;

beforeEach(() => {
  const clock = createSystemClock();
  registry = new ToolRegistry();
  store = createMemoryStateStore();
  blobs = createMemoryBlobStore();
  const gate = createToolGate({ registry, clock, logger: silentLogger });
  deps = { gate, open: async () => ({ state: store, blobs }), clock, ids: createIds({ clock }) };
});

describe("a direct call", () => {
  it("answers with the output, and is recorded as a session with one entry and its energy", async () => {
    add("add", async ({ a, b }) => ({ sum: Number(a) + Number(b) }));
    const { sessionId, output } = await call("add", { a: 1, b: 2 });
    expect(output).toEqual({ sum: 3 });
    expect(await store.readSession(sessionId)).toMatchObject({
      owner: "me",
      version: 1,
      core: { status: "completed", waiting: [], run: 0 },
    });
    expect(await journal(sessionId)).toMatchObject([
      {
        toolId: "add",
        effects: "pure",
        request: { a: 1, b: 2 },
        state: "finished",
        result: { output: { sum: 3 } },
        scope: "",
      },
    ]);
    expect(await store.readEnergy({ sessionId })).toMatchObject({ rows: 1 });
    expect(await eventTypes()).toEqual(expect.arrayContaining(["session-created", "session-completed"]));
  });

  it("that is denied writes nothing", async () => {
    add("add", async () => 1);
    await expect(call("ad", {})).rejects.toMatchObject({ code: "tool_not_found" });
    expect(await eventTypes()).toEqual([]);
  });

  it("that cannot be recorded is not made", async () => {
    let called = false;
    add("add", async () => {
      called = true;
    });
    const open = async () => Promise.reject(new Error("the folder is taken"));
    deps = { ...deps, open };
    await expect(call("add", {})).rejects.toThrow("the folder is taken");
    expect(called).toBe(false);
  });

  it("that fails is recorded, and throws what happened", async () => {
    add("bad", async () => {
      throw new Error("no luck");
    });
    await expect(call("bad", {})).rejects.toMatchObject({ code: "tool_failed", message: "no luck" });
    const { items } = await store.listSessions({ limit: 10 });
    expect(items).toMatchObject([
      { core: { status: "failed", lastError: { code: "tool_failed", message: "no luck" } } },
    ]);
    expect(await journal(items[0]?.core.sessionId)).toMatchObject([
      { state: "failed", result: { error: { code: "tool_failed" } } },
    ]);
  });

  it("of effects once is recorded as begun, its outcome unknown, before it is sent", async () => {
    let seen: unknown;
    add(
      "send",
      async () => {
        const { items } = await store.listSessions({ limit: 1 });
        seen = { status: items[0]?.core, rows: await journal(items[0]?.core.sessionId) };
        return "sent";
      },
      "once",
    );
    const { sessionId } = await call("send", {});
    expect(seen).toMatchObject({
      status: { status: "paused_on_error", lastError: { code: "outcome_unknown" } },
      rows: [{ state: "started" }],
    });
    expect(await store.readSession(sessionId)).toMatchObject({ core: { status: "completed" } });
    expect((await store.readSession(sessionId))?.core.lastError).toBeUndefined();
    expect(await journal(sessionId)).toMatchObject([{ state: "finished", result: { output: "sent" } }]);
  });

  it("of effects once that is cancelled under way stays unknown", async () => {
    add(
      "send",
      async (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stop")));
        }),
      "once",
    );
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10);
    await expect(call("send", {}, controller.signal)).rejects.toMatchObject({ code: "outcome_unknown" });
    const { items } = await store.listSessions({ limit: 1 });
    expect(items).toMatchObject([
      { core: { status: "paused_on_error", lastError: { code: "outcome_unknown", needsPerson: true } } },
    ]);
  });

  it("keeps large args and outputs in the blob store, whole", async () => {
    const text = "x".repeat(INLINE_LIMIT_BYTES);
    add("echo", async ({ text: given }) => ({ text: given }));
    const { sessionId, output } = await call("echo", { text });
    expect(isBlobRef(output)).toBe(true);
    const id = isBlobRef(output) ? output.$blob : "";
    expect(JSON.parse(new TextDecoder().decode(await blobs.get(id)))).toEqual({ text });
    expect(await store.readBlobRow(id, "me")).toMatchObject({ owner: "me" });
    const [row] = await journal(sessionId);
    expect(isBlobRef(row?.request)).toBe(true);
  });
});

function add(
  id: string,
  implementation: (args: Readonly<Record<string, unknown>>, run: ToolRun) => Promise<unknown>,
  effects: ToolDefinition["effects"] = "pure",
): void {
  registry.register({ definition: { id, description: "d", parameters: { type: "object" }, effects }, implementation });
}

async function call(
  toolId: string,
  args: DirectCall["args"],
  signal = new AbortController().signal,
): Promise<Extract<DirectResult, { kind: "finished" }>> {
  const caller = { kind: "cli", owner: "me", approved: true } as const;
  const called = await callDirectly(deps, { toolId, args, signal, caller });
  if (called.kind !== "finished") throw new Error("It was not made.");
  return called;
}

async function journal(sessionId = "") {
  return store.readJournal({ sessionId, order: "oldest", limit: 10 });
}

async function eventTypes(): Promise<string[]> {
  return (await store.readEvents({ afterSeq: 0, limit: 100 })).map(({ type }) => type);
}
