import { beforeEach, describe, expect, it } from "vitest";
import { createApprovalService, type ApprovalService } from "../src/approvals/approval-service.ts";
import { createToolGrants } from "../src/approvals/tool-grants.ts";
import { createMemoryApprovalStore } from "../src/memory/approval-store.ts";
import { createMemoryBlobStore } from "../src/memory/blob-store.ts";
import { createSystemClock } from "../src/memory/clock.ts";
import { createIds } from "../src/memory/ids.ts";
import { silentLogger } from "../src/memory/logger.ts";
import { createMemoryStateStore } from "../src/memory/state-store.ts";
import type { CalledTool } from "../src/ports/engine.ts";
import type { Commit, StateStore } from "../src/ports/state-store.ts";
import { INLINE_LIMIT_BYTES, isBlobRef } from "../src/schema/blob.ts";
import type { ProgressUpdate, ToolDefinition } from "../src/schema/tool.ts";
import { createToolGate, type ToolGate } from "../src/tools/gate/gate.ts";
import { ToolRegistry } from "../src/tools/registry.ts";
import type { ToolRun } from "../src/tools/tool.ts";
import { madeOf } from "./state-store/made.ts";
import { until } from "./until.ts";
import { createEngine, type EmbeddedEngine } from "../src/plans/engine/engine.ts";
import type { CallHere } from "../src/plans/engine/engine-deps.ts";

const clock = createSystemClock();
const ids = createIds({ clock });
const owner = "me";

let store: StateStore;
let commits: Commit[];
let checks: number;
let gate: ToolGate;
let engine: EmbeddedEngine;
let approvals: ApprovalService;
let blobs: ReturnType<typeof createMemoryBlobStore>;
let registry: ToolRegistry;

beforeEach(() => {
  const kept = createMemoryStateStore();
  commits = [];
  store = {
    ...kept,
    commit: async (source) => {
      const made = madeOf(source);
      if (made.session !== undefined) commits.push(made);
      return kept.commit(made);
    },
  };
  blobs = createMemoryBlobStore();
  registry = new ToolRegistry();
  checks = 0;
  const policy: Parameters<typeof createToolGate>[0]["policy"] = ({ tool }) =>
    tool.id === "erase" ? { kind: "needs_approval", reason: "It erases.", fingerprint: "f" } : { kind: "allow" };
  const real = createToolGate({ registry, clock, logger: silentLogger, policy });
  gate = {
    ...real,
    check: (call) => {
      checks++;
      return real.check(call);
    },
  };
  const approvalStore = createMemoryApprovalStore();
  approvals = createApprovalService({
    store: approvalStore,
    grants: createToolGrants(),
    registry,
    clock,
    logger: silentLogger,
  });
  engine = start();
});

function start(): EmbeddedEngine {
  const plans = { get: () => undefined, ids: () => [] };
  const made = createEngine({ store, blobs, gate, registry, plans, clock, ids, logger: silentLogger, approvals });
  approvals.start(made.settleApproval);
  return made;
}

describe("a call that is allowed", () => {
  it("answers with the output, by one check and one commit with its row and its energy", async () => {
    add("add", async ({ a, b }) => ({ sum: Number(a) + Number(b) }));
    expect(await call("add", { a: 1, b: 2 })).toEqual({ kind: "finished", output: { sum: 3 } });
    expect({ checks, commits: commits.length }).toEqual({ checks: 1, commits: 1 });
    const { sessionId } = await newest();
    expect(await store.readSession(sessionId)).toMatchObject({
      owner: "me",
      version: 1,
      core: { status: "completed", waiting: [] },
    });
    const request = { a: 1, b: 2 };
    expect(await journal()).toMatchObject([
      { toolId: "add", effects: "pure", request, state: "finished", result: { output: { sum: 3 } }, scope: "" },
    ]);
    expect(await store.readEnergy({ sessionId })).toMatchObject({ rows: 1 });
    expect(await eventTypes()).toEqual(expect.arrayContaining(["session-created", "session-completed"]));
  });

  it("is recorded when it fails, and throws what happened", async () => {
    add("bad", async () => {
      throw new Error("no luck");
    });
    await expect(call("bad", {})).rejects.toMatchObject({ code: "tool_failed", message: "no luck" });
    expect(await newest()).toMatchObject({ status: "failed", lastError: { code: "tool_failed", message: "no luck" } });
    expect(await journal()).toMatchObject([{ state: "failed", result: { error: { code: "tool_failed" } } }]);
  });

  it("of effects once is recorded as begun, on the disk, before it is made", async () => {
    let seen: unknown;
    add("send", async () => (seen = { durable: commits.map(({ durable }) => durable), rows: await journal() }), "once");
    await call("send", {});
    expect(seen).toMatchObject({ durable: [true], rows: [{ state: "started" }] });
    expect({ checks, commits: commits.length }).toEqual({ checks: 1, commits: 2 });
    expect(await newest()).toMatchObject({ status: "completed" });
    expect(await journal()).toMatchObject([{ state: "finished" }]);
  });

  it("of effects once that is cancelled under way stays unknown, until a person says what became of it", async () => {
    add("send", untilAborted, "once");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10);
    await expect(call("send", {}, { signal: controller.signal })).rejects.toMatchObject({ code: "outcome_unknown" });
    const { sessionId, ...core } = await newest();
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "outcome_unknown" } });
    await engine.resume({ owner, sessionId, input: { happened: "sent" } });
    expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
  });

  it("that may be repeated is recorded as cancelled", async () => {
    add("read", untilAborted, "read");
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 10);
    await expect(call("read", {}, { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
    expect(await newest()).toMatchObject({ status: "failed", lastError: { code: "cancelled" } });
  });

  it("keeps large args and outputs in the blob store, whole", async () => {
    const text = "x".repeat(INLINE_LIMIT_BYTES);
    add("echo", async ({ text: given }) => ({ text: given }));
    const called = await call("echo", { text });
    const output = called.kind === "finished" ? called.output : undefined;
    expect(isBlobRef(output)).toBe(true);
    const id = isBlobRef(output) ? output.$blob : "";
    expect(JSON.parse(new TextDecoder().decode(await blobs.get(id)))).toEqual({ text });
    expect(await store.readBlobRow(id, "me")).toMatchObject({ owner: "me" });
    expect(isBlobRef((await journal())[0]?.request)).toBe(true);
  });

  it("sees the context of the session that it is for, and hears of its progress", async () => {
    let context: unknown;
    add("look", async (_, run) => {
      ({ context } = run);
      run.progress({ message: "looking" });
    });
    const { sessionId } = await engine.createSession({ owner, context: { city: "Bern" } });
    const heard: ProgressUpdate[] = [];
    await call("look", {}, { sessionId, progress: (update) => void heard.push(update) });
    expect(context).toEqual({ city: "Bern" });
    expect(heard).toEqual([{ message: "looking" }]);
  });
});

describe("a call that a person must approve", () => {
  beforeEach(() => add("erase", async ({ n }) => ({ gone: n }), "once"));

  it("waits in a session from its first commit, asked for by one check", async () => {
    const asked = await call("erase", { n: 1 });
    expect(asked).toMatchObject({ kind: "needs_approval", sessionId: expect.stringMatching(/^call_/) });
    expect({ checks, commits: commits.length }).toEqual({ checks: 1, commits: 1 });
    const { sessionId, approvalId } = asked as Extract<CalledTool, { kind: "needs_approval" }>;
    expect(await newest()).toMatchObject({ sessionId, status: "paused_on_human", waiting: [{ approvalId }] });
    expect(await approvals.read(approvalId)).toMatchObject({ parameters: { n: 1 }, sessionId, state: "pending" });
    await approvals.decide({ name: "ann" }, approvalId, { decision: "approve" });
    expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    expect(await journal()).toMatchObject([{ request: { n: 1 }, result: { output: { gone: 1 } } }]);
  });

  it("answers with the outcome to a caller that waits, and with the session when its patience ends", async () => {
    const patience = new AbortController();
    const waiting = call("erase", { n: 2 }, { patience: patience.signal });
    await approve();
    expect(await waiting).toEqual({ kind: "finished", output: { gone: 2 } });
    const refused = call("erase", { n: 3 }, { patience: patience.signal });
    await decide("deny");
    await expect(refused).rejects.toMatchObject({ code: "approval_denied" });
    expect(await journal()).toMatchObject([{ request: { n: 3 }, state: "failed" }]);
    const last = call("erase", { n: 4 }, { patience: patience.signal });
    setTimeout(() => patience.abort(), 20);
    expect(await last).toMatchObject({ kind: "needs_approval" });
  });

  it("goes on in another process, with the arguments that it was asked about, however large they are", async () => {
    for (const n of [1, "x".repeat(INLINE_LIMIT_BYTES)]) {
      const asked = await call("erase", { n });
      await engine.close();
      engine = start();
      await approvals.decide({ name: "ann" }, String((asked as { approvalId?: string }).approvalId), {
        decision: "approve",
      });
      const { sessionId } = await newest();
      expect(await engine.settled({ owner, sessionId })).toMatchObject({ status: "completed" });
    }
  });

  it("is made at once when a person typed it", async () => {
    expect(await call("erase", { n: 5 }, { typed: {} })).toEqual({ kind: "finished", output: { gone: 5 } });
  });
});

describe("a call that is refused", () => {
  it("writes nothing when the gate denies it", async () => {
    add("add", async () => 1);
    await expect(call("ad", {})).rejects.toMatchObject({ code: "tool_not_found" });
    expect(await eventTypes()).toEqual([]);
  });

  it("is not made when the engine has ended", async () => {
    let called = false;
    add("add", async () => (called = true));
    await engine.close();
    await expect(call("add", {})).rejects.toMatchObject({ code: "engine_stopping" });
    expect(called).toBe(false);
  });
});

type Implementation = (args: Readonly<Record<string, unknown>>, run: ToolRun) => Promise<unknown>;

function add(id: string, implementation: Implementation, effects: ToolDefinition["effects"] = "pure"): void {
  registry.register({ definition: { id, description: "d", parameters: { type: "object" }, effects }, implementation });
}

const untilAborted: Implementation = async (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stop")));
  });

function call(toolId: string, args: CallHere["args"], more: Partial<CallHere> = {}): Promise<CalledTool> {
  return engine.callTool({ owner, toolId, args, ...more });
}

function approve(): Promise<void> {
  return decide("approve");
}

async function decide(decision: "approve" | "deny"): Promise<void> {
  const open = async () => (await approvals.list({ name: "ann" }, { state: "pending", limit: 1 })).items[0]?.id;
  await until(async () => (await open()) !== undefined);
  await approvals.decide({ name: "ann" }, String(await open()), { decision });
}

async function newest() {
  const { items } = await store.listSessions({ limit: 1 });
  const [record] = items;
  if (record === undefined) throw new Error("There is no session.");
  return record.core;
}

async function journal() {
  const { sessionId } = await newest();
  return store.readJournal({ sessionId, order: "oldest", limit: 10 });
}

async function eventTypes(): Promise<string[]> {
  return (await store.readEvents({ afterSeq: 0, limit: 100 })).map(({ type }) => type);
}
