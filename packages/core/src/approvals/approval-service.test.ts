import { afterEach, describe, expect, it } from "vitest";
import { callStep, planOf } from "../../testing/engine/engine-world.ts";
import { madeOf } from "../../testing/state-store/made.ts";
import { createMemoryApprovalStore } from "../memory/approval-store.ts";
import { createMemoryStateStore } from "../memory/state-store.ts";
import { createSimulatedClock } from "../../testing/simulated-clock.ts";
import type { JsonObject } from "../schema/values/json.ts";
import { MAX_PENDING_APPROVALS } from "../ports/approval-store.ts";
import { silentLogger } from "../memory/logger.ts";
import { MAX_WAITING_ARGS } from "../plans/engine/waits/ask-person.ts";
import { ToolRegistry } from "../tools/registry.ts";
import {
  APPROVAL_TTL_MS,
  createApprovalService,
  EXPIRY_BATCH,
  EXPIRY_SWEEP_MS,
  MAX_UNTOLD,
} from "./approval-service.ts";
import { createToolGrants } from "./tool-grants.ts";
import {
  type AskingOptions,
  type AskingWorld,
  askingWorld,
  OWNER,
  PERSON,
  serverTool,
  WRITE,
  writePlan,
} from "../../testing/hub/asking-world.ts";
import type { ToolIdentity } from "../schema/approval.ts";

let world: AskingWorld;
afterEach(() => world.close());

const open = (options: AskingOptions = {}): AskingWorld => {
  world = askingWorld(options);
  return world;
};
const CHANGED: ToolIdentity = { ...WRITE, description: "Writes a note, and mails it.\u200b" };
const session = { owner: OWNER, sessionId: "s" };

describe("a step that needs a person's yes", () => {
  it("reads as expired as soon as its time is over, in lists and alone", async () => {
    const clock = createSimulatedClock();
    const { run, approvals } = open({ clock });
    const { id } = await run(writePlan);
    clock.shift(APPROVAL_TTL_MS);
    expect(await approvals.find(PERSON, id)).toMatchObject({ state: "expired" });
    expect((await approvals.list(PERSON, { state: "pending", limit: 10 })).items).toEqual([]);
    expect((await approvals.list(PERSON, { limit: 10 })).items).toMatchObject([{ id, state: "expired" }]);
    const late = approvals.decide(PERSON, id, { decision: "approve" });
    await expect(late).rejects.toMatchObject({ code: "approval_expired" });
  });

  it("waits with a question that says what exactly would be called", async () => {
    const { run, engine, calls, eventTypes } = open();
    const asked = await run(writePlan);
    expect(asked).toMatchObject({
      owner: OWNER,
      tool: "notes_write",
      server: "notes",
      parameters: { text: "hello" },
      state: "pending",
      sessionId: "s",
      step: "a",
      reason: expect.stringContaining('"notes"'),
    });
    const { core } = await engine.readSession(session);
    expect(core).toMatchObject({
      status: "paused_on_human",
      waiting: [{ kind: "approval", stepId: "a", path: "a", approvalId: asked.id }],
    });
    expect(calls).toEqual([]);
    expect(engine.activeRuns()).toBe(0);
    expect((await eventTypes()).filter((type) => type.startsWith("approval"))).toEqual(["approval-requested"]);
    const answer = engine.resume({ ...session, input: { approved: true } });
    await expect(answer).rejects.toMatchObject({ code: "wait_not_open" });
  });

  it("runs once with exactly those arguments when the person says yes", async () => {
    const { run, approvals, calls, status, eventTypes } = open();
    const { id } = await run(writePlan);
    expect(await approvals.decide(PERSON, id, { decision: "approve" })).toMatchObject({
      state: "approved",
      decidedBy: "ada",
    });
    expect(await status()).toBe("completed");
    expect(calls).toEqual([{ text: "hello" }]);
    const types = await eventTypes();
    expect(types.filter((type) => type.startsWith("approval"))).toEqual(["approval-requested", "approval-decided"]);
  });

  it("fails with what the person said when they say no, and is not asked about again by the same retry", async () => {
    const { run, approvals, engine, calls, status, pending } = open();
    const { id } = await run(writePlan);
    await approvals.decide(PERSON, id, { decision: "deny", feedback: "use the other notebook" });
    expect(await status()).toBe("paused_on_error");
    const { core } = await engine.readSession(session);
    expect(core.lastError).toMatchObject({
      code: "approval_denied",
      message: "A person refused this call: use the other notebook",
      details: { approvalId: id, feedback: "use the other notebook" },
    });
    expect(calls).toEqual([]);
    await engine.resume({ ...session, input: { action: "retry" } });
    await engine.settled(session);
    const [anew] = await pending();
    expect(anew?.id).not.toBe(id);
  });

  it("is told so when the person's no lets the run go on", async () => {
    const { run, approvals, engine, status } = open();
    const step = { ...callStep("a", "notes_write", { text: "hello" }), onError: "continue" } as never;
    const { id } = await run(planOf("p", [step]));
    await approvals.decide(PERSON, id, { decision: "deny", feedback: "no" });
    expect(await status()).toBe("completed");
    const { history } = await engine.readSession(session);
    expect(history).toMatchObject([{ result: { error: { code: "approval_denied", details: { feedback: "no" } } } }]);
  });

  it("calls with the arguments that were approved though they would come out otherwise by now", async () => {
    const { approvals, registry, run, status } = open();
    const seen: unknown[] = [];
    let asked = 0;
    registry.register({
      id: "clockwork",
      description: "Takes the count of the moment.",
      destructiveHint: true,
      getDefaultArgs: () => ({ at: (asked += 1) }),
      actionFn: ({ args }: { readonly args: unknown }) => {
        seen.push(args);
        return Promise.resolve({ success: true });
      },
    } as never);
    const { id, parameters } = await run(planOf("p", [callStep("a", "clockwork")]));
    await approvals.decide(PERSON, id, { decision: "approve" });
    expect(await status()).toBe("completed");
    expect(seen).toEqual([parameters]);
  });

  it.each([MAX_WAITING_ARGS, MAX_WAITING_ARGS + 1, 100_000])(
    "is called with arguments of %i characters as they were approved",
    async (characters) => {
      const { run, approvals, calls, status } = open();
      const text = "x".repeat(characters - JSON.stringify({ text: "" }).length);
      const { id } = await run(planOf("p", [callStep("a", "notes_write", { text })]));
      await approvals.decide(PERSON, id, { decision: "approve" });
      expect(await status()).toBe("completed");
      expect(calls).toEqual([{ text }]);
    },
  );

  it("waits in a branch while its siblings go on, each for its own answer", async () => {
    const { run, approvals, engine, calls, status, pending } = open();
    const branch = (id: string) => ({ steps: [callStep(id, "notes_write", { text: id })] });
    const plan = planOf("p", [{ id: "both", type: "parallel_branch", branches: [branch("x"), branch("y")] }]);
    await run(plan);
    const [second, first] = [...(await pending())].sort((a, b) => ((a.step ?? "") < (b.step ?? "") ? 1 : -1));
    expect([first?.step, second?.step]).toEqual(["both[0]/x", "both[1]/y"]);
    await approvals.decide(PERSON, second?.id ?? "", { decision: "approve" });
    await engine.settled(session);
    expect(calls).toEqual([{ text: "y" }]);
    expect((await engine.readSession(session)).core.waiting).toMatchObject([{ approvalId: first?.id }]);
    await approvals.decide(PERSON, first?.id ?? "", { decision: "approve" });
    expect(await status()).toBe("completed");
    expect(calls).toEqual([{ text: "y" }, { text: "x" }]);
  });

  it("leaves a person's answer to another wait of the session alone", async () => {
    const { run, engine } = open();
    const human = { id: "h", type: "human_in_the_loop", message: "Well?" } as const;
    const branches = [{ steps: [callStep("x", "notes_write", { text: "x" })] }, { steps: [human] }];
    await run(planOf("p", [{ id: "both", type: "parallel_branch", branches }]));
    await engine.resume({ ...session, step: "h", input: "yes" });
    const core = await engine.settled(session);
    expect(core).toMatchObject({ status: "paused_on_human", waiting: [{ kind: "approval" }] });
  });

  it("takes its question back when the session is cancelled", async () => {
    const { run, approvals, engine } = open();
    const { id } = await run(writePlan);
    await engine.cancel(session);
    expect(await approvals.find(PERSON, id)).toMatchObject({ state: "withdrawn" });
    const late = approvals.decide(PERSON, id, { decision: "approve" });
    await expect(late).rejects.toMatchObject({ code: "approval_withdrawn" });
  });

  it("fails when one owner has more open questions than there may be", async () => {
    const { engine, approvalStore, run } = open();
    const asked = await run(writePlan);
    for (let n = 1; n < MAX_PENDING_APPROVALS; n += 1) await approvalStore.ask({ ...asked, id: `filler-${String(n)}` });
    await engine.executePlan({ owner: OWNER, sessionId: "more", plan: writePlan, create: true });
    const core = await engine.settled({ owner: OWNER, sessionId: "more" });
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "approvals_full" } });
  });
});

describe("an answer", () => {
  it("given twice is one answer, and the opposite one is refused (Q2)", async () => {
    const { run, approvals, calls, status } = open();
    const { id } = await run(writePlan);
    const yes = { decision: "approve" } as const;
    const both = await Promise.all([approvals.decide(PERSON, id, yes), approvals.decide(PERSON, id, yes)]).catch(
      (thrown: unknown) => thrown,
    );
    expect(both).toMatchObject([{ state: "approved" }, { state: "approved" }]);
    expect(await status()).toBe("completed");
    expect(await approvals.decide(PERSON, id, yes)).toMatchObject({ state: "approved" });
    const no = approvals.decide(PERSON, id, { decision: "deny" });
    await expect(no).rejects.toMatchObject({ code: "approval_decided" });
    expect(calls).toHaveLength(1);
  });

  it("that came through a program's client counts, but not for what is asked about each time", async () => {
    const { run, approvals, registry, calls, pending, status } = open();
    const client = { name: OWNER, owners: [OWNER], throughClient: true };
    registry.register({
      definition: { id: "probe::always", description: "d", parameters: { type: "object" }, alwaysAsk: true },
      implementation: () => Promise.resolve("done"),
    });
    const always = await run(planOf("always", [callStep("a", "probe::always")]), "always");
    expect(always).toMatchObject({ state: "pending", alwaysAsk: true });
    for (const decision of ["approve", "deny"] as const)
      await expect(approvals.decide(client, always.id, { decision })).rejects.toMatchObject({ code: "forbidden" });
    expect(await approvals.find(client, always.id)).toMatchObject({ state: "pending" });
    await run(writePlan);
    const id = (await pending()).find(({ tool }) => tool === "notes_write")?.id ?? "";
    expect(await approvals.decide(client, id, { decision: "approve" })).toMatchObject({ decidedBy: OWNER });
    expect(await status()).toBe("completed");
    expect(calls).toHaveLength(1);
  });

  it("is for those who may see the question, and for others there is none (Q3)", async () => {
    const { run, approvals } = open();
    const { id } = await run(writePlan);
    const stranger = { name: "eve", owners: ["eve"] };
    const yes = { decision: "approve" } as const;
    await expect(approvals.decide(stranger, id, yes)).rejects.toMatchObject({ code: "approval_not_found" });
    await expect(approvals.find(stranger, id)).rejects.toMatchObject({ code: "approval_not_found" });
    expect((await approvals.list(stranger, { limit: 10 })).items).toEqual([]);
    const maker = { name: "ada", owners: ["ada", OWNER] };
    expect((await approvals.list(maker, { limit: 10 })).items).toHaveLength(1);
    expect(await approvals.decide(maker, id, yes)).toMatchObject({ state: "approved" });
  });

  it("comes too late once the time is over, and the step has failed by then", async () => {
    const clock = createSimulatedClock();
    const { run, approvals, engine } = open({ clock });
    const { id, requestedAt, expiresAt } = await run(writePlan);
    expect(Date.parse(expiresAt) - Date.parse(requestedAt)).toBe(APPROVAL_TTL_MS);
    // One sweep after the other, until the one behind the end.
    for (let passed = 0; passed <= APPROVAL_TTL_MS; passed += EXPIRY_SWEEP_MS) {
      clock.jump();
      if (passed + 2 * EXPIRY_SWEEP_MS > APPROVAL_TTL_MS) await new Promise((resolve) => void setImmediate(resolve));
      else await Promise.resolve();
      await quiet();
    }
    const core = await engine.settled(session);
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "approval_expired" } });
    const late = approvals.decide(PERSON, id, { decision: "approve" });
    await expect(late).rejects.toMatchObject({ code: "approval_expired" });
  });

  it("resolves whoever waits for it, and so does the end of their patience", async () => {
    const { run, approvals } = open();
    const { id } = await run(writePlan);
    const patience = new AbortController();
    const waiting = [approvals.answered(id, patience.signal), approvals.answered(id, new AbortController().signal)];
    patience.abort();
    await waiting[0];
    await approvals.decide(PERSON, id, { decision: "deny" });
    await waiting[1];
    expect(await approvals.answered(id, new AbortController().signal)).toBeUndefined();
  });
});

describe("the desk", () => {
  it("ends more questions in one sweep than it ends at once, and tells again what could not be told, up to its bound", async () => {
    world = askingWorld();
    const clock = createSimulatedClock();
    const store = createMemoryApprovalStore();
    const desk = createApprovalService({
      store,
      grants: createToolGrants(),
      registry: new ToolRegistry(),
      clock,
      logger: silentLogger,
    });
    const all = MAX_UNTOLD + 1;
    for (let n = 0; n < all; n += 1) {
      const owner = `owner ${String(n % 2)}`;
      await desk.ask({
        owner,
        key: `k${String(n)}`,
        toolId: "t",
        args: {},
        argsHash: "h",
        estimatedUnits: 0,
        reason: "r",
        sessionId: "s",
        step: "a",
      });
    }
    const told: string[] = [];
    let deaf = true;
    desk.start(async ({ id }) => {
      if (deaf) throw new Error("not now");
      told.push(id);
    });
    for (let passed = 0; passed <= APPROVAL_TTL_MS; passed += EXPIRY_SWEEP_MS) {
      clock.jump();
      await quiet();
    }
    expect(all).toBeGreaterThan(EXPIRY_BATCH);
    expect((await desk.list(PERSON, { state: "expired", limit: 2 * all })).items).toHaveLength(all);
    deaf = false;
    clock.jump();
    await quiet();
    expect(new Set(told).size).toBe(MAX_UNTOLD);
    desk.stop();
  });
});

describe("an approved tool that its server changes", () => {
  it("between the yes and the call is asked about anew, and the change is shown", async () => {
    const { run, approvals, calls, pending, engine, registry } = open();
    const { id } = await run(writePlan);
    serverTool({ registry }, CHANGED, { calls });
    await approvals.decide(PERSON, id, { decision: "approve" });
    await engine.settled(session);
    expect(calls).toEqual([]);
    const [anew] = await pending();
    expect(anew).toMatchObject({ state: "pending", description: expect.stringContaining("\\u{200b}") });
    expect(anew?.id).not.toBe(id);
    await approvals.decide(PERSON, anew?.id ?? "", { decision: "approve" });
    expect((await engine.settled(session)).status).toBe("completed");
    expect(calls).toEqual([{ text: "hello" }]);
  });

  it("after the last check and before the call is not called, and asked about anew", async () => {
    const store = createMemoryStateStore();
    const calls: JsonObject[] = [];
    let changeOnce = true;
    const racing = {
      ...store,
      commit: async (source: Parameters<typeof store.commit>[0]) => {
        const commit = madeOf(source);
        // The commit that announces the call is where everything has been checked.
        if (changeOnce && commit.journal?.some(({ kind }) => kind === "start") === true) {
          changeOnce = false;
          serverTool(world, CHANGED, { calls });
        }
        return store.commit(commit);
      },
    };
    const { run, approvals, pending, engine } = open({ store: racing, calls });
    const { id } = await run(writePlan);
    await approvals.decide(PERSON, id, { decision: "approve" });
    await engine.settled(session);
    expect(calls).toEqual([]);
    const [anew] = await pending();
    expect(anew?.id).not.toBe(id);
    await approvals.decide(PERSON, anew?.id ?? "", { decision: "approve" });
    expect((await engine.settled(session)).status).toBe("completed");
    expect(calls).toHaveLength(1);
    const { history } = await engine.readSession(session);
    expect(history).toMatchObject([{ result: { error: { code: "tool_changed" } } }, { result: { output: {} } }]);
    await engine.fork({ ...session, fromStep: "a", newSessionId: "f", repeatOnce: true });
    expect(await engine.settled({ owner: OWNER, sessionId: "f" })).toMatchObject({ waiting: [{ path: "a" }] });
  });
});

describe("what was allowed for good", () => {
  const remember = { decision: "approve", remember: "tool" } as const;

  it("is not asked about again until the tool changes, and then with the difference (Q4)", async () => {
    const { run, approvals, calls, engine, pending, registry } = open();
    const { id } = await run(writePlan);
    expect(await approvals.decide(PERSON, id, remember)).toMatchObject({ remembered: "tool" });
    await engine.settled(session);
    await engine.executePlan({ owner: OWNER, sessionId: "t", plan: writePlan, create: true });
    expect((await engine.settled({ owner: OWNER, sessionId: "t" })).status).toBe("completed");
    expect(calls).toHaveLength(2);
    serverTool({ registry }, CHANGED, { calls });
    await engine.executePlan({ owner: OWNER, sessionId: "u", plan: writePlan, create: true });
    await engine.settled({ owner: OWNER, sessionId: "u" });
    expect(await pending()).toMatchObject([
      {
        sessionId: "u",
        reason: '"write" is not what was approved: description changed.',
        changes: [{ field: "description", before: "Writes a note.", after: "Writes a note, and mails it.\\u{200b}" }],
      },
    ]);
  });

  it("is listed with who allowed it, and asked about again once it is revoked", async () => {
    const { run, approvals, calls, status } = open();
    const { id } = await run(writePlan);
    await approvals.decide(PERSON, id, remember);
    expect(await status()).toBe("completed");
    const { items } = await approvals.grants({ limit: 10 });
    expect(items).toMatchObject([{ toolId: "notes_write", serverId: "notes", grantedBy: "ada" }]);
    expect(await approvals.revoke("notes_write")).toEqual(items[0]);
    expect((await approvals.grants({ limit: 10 })).items).toEqual([]);
    await expect(approvals.revoke("notes_write")).rejects.toMatchObject({ code: "grant_not_found" });
    expect(await run(writePlan, "t")).toMatchObject({ state: "pending", sessionId: "t" });
    expect(calls).toHaveLength(1);
  });

  it("in the configuration is taken out there first, and kept where that cannot be", async () => {
    let isOut = false;
    const { run, approvals } = open({ allowList: async () => true, disallow: async () => isOut });
    const { id } = await run(writePlan);
    await approvals.decide(PERSON, id, remember);
    await expect(approvals.revoke("notes_write")).rejects.toMatchObject({ code: "grant_configured" });
    expect((await approvals.grants({ limit: 10 })).items).toHaveLength(1);
    isOut = true;
    expect(await approvals.revoke("notes_write")).toMatchObject({ pinned: true });
  });

  it("covers every tool that the server has then, and none that it adds later", async () => {
    const { run, approvals, calls, engine, pending, registry } = open();
    serverTool({ registry }, { ...WRITE, name: "read" }, { calls });
    const { id } = await run(writePlan);
    await approvals.decide(PERSON, id, { decision: "approve", remember: "server" });
    serverTool({ registry }, { ...WRITE, name: "erase" }, { calls });
    const plan = planOf("q", [callStep("r", "notes_read", {}, "e"), callStep("e", "notes_erase")]);
    await engine.executePlan({ owner: OWNER, sessionId: "t", plan, create: true });
    await engine.settled({ owner: OWNER, sessionId: "t" });
    expect(await pending()).toMatchObject([{ tool: "notes_erase" }]);
  });

  it("is not the changed tool that replaced the one which the person was asked about", async () => {
    const { run, approvals, calls, engine, pending, registry } = open();
    const { id } = await run(writePlan);
    serverTool({ registry }, CHANGED, { calls });
    expect(await approvals.decide(PERSON, id, remember)).not.toHaveProperty("remembered");
    await engine.settled(session);
    expect(calls).toEqual([]);
    expect(await pending()).toHaveLength(1);
  });

  it("goes with a yes, and to a server only where there is one", async () => {
    const { run, approvals, registry } = open();
    const { id } = await run(writePlan);
    const odd = approvals.decide(PERSON, id, { decision: "deny", remember: "tool" });
    await expect(odd).rejects.toMatchObject({ code: "input_invalid" });
    registry.register({
      definition: { id: "own::erase", description: "Erases.", parameters: { type: "object" }, destructiveHint: true },
      implementation: () => Promise.resolve(1),
    });
    await run(planOf("q", [callStep("e", "own::erase")]), "t");
    const [own] = (await approvals.list(PERSON, { limit: 10 })).items.filter(({ tool }) => tool === "own::erase");
    const server = approvals.decide(PERSON, own?.id ?? "", { decision: "approve", remember: "server" });
    await expect(server).rejects.toMatchObject({ code: "input_invalid" });
    expect(own).toMatchObject({ server: null, reason: '"own::erase" says that it may destroy something.' });
  });

  it("by the configuration is pinned at the first call, and asked about once it changes", async () => {
    const { engine, calls, pending, registry, status } = open({ autoApprove: ["wr*"] });
    await engine.executePlan({ ...session, plan: writePlan, create: true });
    expect(await status()).toBe("completed");
    serverTool({ registry }, CHANGED, { calls });
    await engine.executePlan({ owner: OWNER, sessionId: "t", plan: writePlan, create: true });
    await engine.settled({ owner: OWNER, sessionId: "t" });
    expect(calls).toHaveLength(1);
    expect(await pending()).toMatchObject([{ changes: [{ field: "description" }] }]);
  });

  it("by the configuration is no longer allowed when the configuration takes it back", async () => {
    const approvalStore = createMemoryApprovalStore();
    const before = open({ autoApprove: true, approvalStore });
    await before.engine.executePlan({ ...session, plan: writePlan, create: true });
    expect(await before.status()).toBe("completed");
    before.approvals.stop();
    await before.engine.close();
    const { engine, pending } = open({ approvalStore });
    await engine.executePlan({ owner: OWNER, sessionId: "t", plan: writePlan, create: true });
    await engine.settled({ owner: OWNER, sessionId: "t" });
    expect(await pending()).toHaveLength(1);
  });

  it("by nobody is refused outright where a rule forbids it", async () => {
    const { engine } = open({ rules: [{ decision: "deny", tool: "write" }] });
    await engine.executePlan({ ...session, plan: writePlan, create: true });
    const core = await engine.settled(session);
    expect(core).toMatchObject({ status: "paused_on_error", lastError: { code: "approval_denied" } });
  });
});

describe("the process that ends", () => {
  it("between the answer and the session leaves it to the next one, which makes the call once (Q1)", async () => {
    const store = createMemoryStateStore();
    const approvalStore = createMemoryApprovalStore();
    const first = open({ store, approvalStore });
    const { id } = await first.run(writePlan);
    first.approvals.stop();
    await first.approvals.decide(PERSON, id, { decision: "approve" });
    await first.engine.close();
    expect(first.calls).toEqual([]);

    const next = open({ store, approvalStore });
    expect(await next.engine.recover()).toEqual({ takenUp: 1 });
    expect(await next.status()).toBe("completed");
    expect(next.calls).toEqual([{ text: "hello" }]);
  });

  it("between the question and the session's commit leaves one question, and its answer counts", async () => {
    const store = createMemoryStateStore();
    const approvalStore = createMemoryApprovalStore();
    let lost = true;
    const mortal = {
      ...store,
      commit: async (source: Parameters<typeof store.commit>[0]) => {
        const commit = madeOf(source);
        if (lost && commit.events?.some(({ type }) => type === "approval-requested") === true)
          return Promise.withResolvers<never>().promise;
        return store.commit(commit);
      },
    };
    const first = open({ store: mortal, approvalStore });
    await first.engine.executePlan({ ...session, plan: writePlan, create: true });
    while ((await first.pending()).length === 0) await quiet();
    first.approvals.stop();
    void first.engine.close();
    lost = false;

    const next = open({ store, approvalStore });
    const [asked] = await next.pending();
    await next.approvals.decide(PERSON, asked?.id ?? "", { decision: "approve" });
    await next.engine.recover();
    expect(await next.status()).toBe("completed");
    expect(next.calls).toHaveLength(1);
    expect((await next.approvals.list(PERSON, { limit: 10 })).items).toHaveLength(1);
  });

  it("forgets a question that its store has lost: it is asked anew", async () => {
    const store = createMemoryStateStore();
    const first = open({ store });
    const { id } = await first.run(writePlan);
    first.approvals.stop();
    await first.engine.close();
    const next = open({ store });
    await next.engine.recover();
    await next.engine.settled(session);
    expect(await next.pending()).toMatchObject([{ id, state: "pending" }]);
    await next.approvals.decide(PERSON, id, { decision: "approve" });
    expect(await next.status()).toBe("completed");
  });
});

/** Lets everything that needs no outside event happen. */
function quiet(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
