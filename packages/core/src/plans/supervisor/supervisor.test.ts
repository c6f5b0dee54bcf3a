import { afterEach, describe, expect, it } from "vitest";
import { createSupervisedWorld, type SupervisedWorld } from "../../../testing/supervisor/supervised-world.ts";
import { callStep, planOf } from "../../../testing/engine/engine-world.ts";
import { createMemoryLogger } from "../../memory/logger.ts";
import { isErgonError } from "../../errors/ergon-error.ts";
import { MAX_ALTERNATIVES, type PlanStep } from "../../schema/plan.ts";
import { FIRST_RETRY_MS, MAX_CORRECTIONS_PER_STEP } from "./choose-correction.ts";

let world: SupervisedWorld;
afterEach(() => world.close());

const say = (key: string): PlanStep => ({
  id: "say",
  type: "final_response",
  message: { jsonPath: `$.context.${key}` },
});
const saving = (step: PlanStep, more: object = {}): PlanStep => ({ ...step, saveAs: "r", ...more }) as PlanStep;

describe("a failed step is corrected", () => {
  it("by trying again, under the same key, when its error is transient", async () => {
    world = createSupervisedWorld();
    world.fails("test::flaky", 2);
    const view = await world.run(planOf("p", [saving(callStep("a", "test::flaky", {}, "say")), say("r")]));
    expect(view.core.status).toBe("completed");
    expect(view.context["finalResponse"]).toBe("test::flaky ok");
    expect(view.corrections).toMatchObject([
      { strategy: "retry", state: "applied", path: "a", stepId: "a", diff: [{ op: "add", path: "/steps/0/retry" }] },
      { strategy: "retry", state: "applied", call: { delayMs: 4 * FIRST_RETRY_MS } },
    ]);
    expect(world.calls.map(({ toolId }) => toolId)).toEqual(["test::flaky", "test::flaky", "test::flaky"]);
    expect(new Set(world.calls.map(({ key }) => key)).size).toBe(1);
    expect(view.history.map(({ result }) => "output" in result)).toEqual([false, false, true]);
  });

  it("by arguments that its schema takes, under a new key", async () => {
    world = createSupervisedWorld();
    const plan = planOf("p", [
      saving(callStep("a", "test::count", { n: { jsonPath: "$.promptInput.n" }, more: true }, "say")),
      say("r"),
    ]);
    const view = await world.run(plan, { n: "5" });
    expect(view.context["finalResponse"]).toEqual({ n: 5, more: true, unit: "m" });
    expect(view.corrections).toMatchObject([
      {
        strategy: "repair_arguments",
        state: "applied",
        error: { code: "args_invalid" },
        diff: [
          { op: "replace", path: "/steps/0/arguments/n", from: "5", value: 5 },
          { op: "add", value: "m" },
        ],
      },
    ]);
    expect(world.calls).toHaveLength(1);
  });

  it("by what a repairer suggests, if the gate takes it", async () => {
    const asked: unknown[] = [];
    world = createSupervisedWorld({
      repairer: {
        repair: (request) => {
          asked.push(request.args);
          return Promise.resolve(asked.length === 1 ? { n: 42 } : { n: "never" });
        },
      },
    });
    const plan = (id: string) =>
      planOf(id, [saving(callStep("a", "test::count", { n: { jsonPath: "$.promptInput.n" } }))]);
    const view = await world.run(plan("p"), { n: "forty-two" });
    expect(view.core.status).toBe("completed");
    expect(view.context["r"]).toMatchObject({ n: 42 });
    const again = await world.run(plan("q"), { n: "something" });
    expect(again.core).toMatchObject({ status: "paused_on_error", lastError: { needsPerson: true } });
    expect(again.corrections).toBeUndefined();
  });

  it("by another tool, whose result stands where the step's own would", async () => {
    world = createSupervisedWorld();
    world.fails("test::once", Infinity);
    const plan = planOf("p", [
      saving(callStep("a", "test::once", {}, "say"), { alternatives: ["test::count", "test::other"] }),
      { id: "say", type: "final_response", message: { jsonPath: "$.context['test::once_result']" } },
    ]);
    const view = await world.run(plan);
    // The first alternative needs an argument that nobody has.
    expect(view.context["finalResponse"]).toBe("test::other ok");
    expect(view.history.map(({ toolId }) => toolId)).toEqual(["test::once", "test::other"]);
    expect(view.corrections).toMatchObject([
      {
        strategy: "alternative_tool",
        diff: [{ op: "replace", path: "/steps/0/toolId", from: "test::once", value: "test::other" }],
      },
    ]);
    expect(new Set(world.calls.map(({ key }) => key)).size).toBe(2);
  });

  it("by each alternative in turn, until one works", async () => {
    world = createSupervisedWorld();
    for (const toolId of ["test::flaky", "test::once"]) world.fails(toolId, Infinity);
    const plan = planOf("p", [
      saving(callStep("a", "test::flaky", {}, "say"), { alternatives: ["test::once", "test::other"] }),
      say("r"),
    ]);
    const view = await world.run(plan);
    expect(view.core.status).toBe("completed");
    expect(view.context["finalResponse"]).toBe("test::other ok");
    expect(world.calls.map(({ toolId }) => toolId)).toEqual([
      "test::flaky",
      "test::flaky",
      "test::once",
      "test::other",
    ]);
  });

  it("by the last of as many alternatives as a step may have, within the session's budget", async () => {
    world = createSupervisedWorld();
    const alternatives = Array.from({ length: MAX_ALTERNATIVES }, (_, at) => `test::spare_${String(at)}`);
    for (const id of alternatives)
      world.registry.register({
        definition: { id, description: "Fails, but for the last.", parameters: { type: "object" }, effects: "once" },
        implementation: () =>
          id === alternatives.at(-1) ? Promise.resolve("ok") : Promise.reject(new Error("out of order")),
      });
    world.fails("test::once", Infinity);
    const view = await world.run(planOf("p", [saving(callStep("a", "test::once"), { alternatives })]));
    expect(view.core.status).toBe("completed");
    expect(view.corrections?.map(({ call }) => call.toolId)).toEqual(alternatives);
  });

  it("by going on without it, when it is optional", async () => {
    world = createSupervisedWorld();
    world.fails("test::once", Infinity);
    const plan = planOf("p", [
      saving(callStep("a", "test::once", {}, "b"), { optional: true }),
      saving(callStep("b", "test::other", {})),
    ]);
    const view = await world.run(plan);
    expect(view.core.status).toBe("completed");
    expect(view.corrections).toMatchObject([{ strategy: "skip", diff: [{ op: "remove", path: "/steps/0" }] }]);
  });

  it("wherever it stands, each turn of a loop for itself", async () => {
    world = createSupervisedWorld();
    const plan = planOf("p", [
      {
        id: "each",
        type: "loop_over_items",
        collectionPath: { jsonPath: "$.promptInput.items" },
        itemAlias: "item",
        concurrency: 3,
        loopPlan: [saving(callStep("count", "test::count", { n: { jsonPath: "$.context.item" } }))],
      },
    ]);
    const view = await world.run(plan, { items: ["1", 2, "3", "four"] });
    expect(view.core).toMatchObject({
      status: "paused_on_error",
      lastError: { needsPerson: true, code: "args_invalid" },
      waiting: [{ path: "each[3]/count", needsPerson: true }],
    });
    expect(view.corrections?.map(({ path, state }) => `${path} ${state}`).sort()).toEqual([
      "each[0]/count applied",
      "each[2]/count applied",
    ]);
    expect(view.corrections?.[0]?.diff[0]?.path).toBe("/steps/0/loopPlan/0/arguments/n");
  });
});

describe("every correction", () => {
  it("is a plan run in a session of its own, linked both ways, and is told in events", async () => {
    world = createSupervisedWorld();
    world.fails("test::flaky", 1);
    const view = await world.run(planOf("p", [callStep("a", "test::flaky")]));
    const [correction] = view.corrections ?? [];
    const session = { owner: world.owner, sessionId: correction?.correctionId ?? "" };
    expect((await world.engine.settled(session)).status).toBe("completed");
    const own = await world.engine.readSession(session);
    expect(own.core).toMatchObject({ currentPlanId: "correction.retry", status: "completed" });
    expect(own.context).toMatchObject({
      corrects: { sessionId: view.core.sessionId, stepId: "a", path: "a" },
      finalResponse: { sessionId: view.core.sessionId, state: "applied" },
    });
    expect(own.history).toMatchObject([{ toolId: "ergon::correct", planStepId: "apply" }]);
    const { items } = await world.engine.listSessions({ owner: world.owner, limit: 10 });
    expect(items.map(({ sessionId }) => sessionId)).toContain(session.sessionId);
    const events = await world.store.readEvents({ afterSeq: 0, sessionId: view.core.sessionId, limit: 1_000 });
    const told = events.filter(({ type }) => type.startsWith("correction-"));
    expect(told.map(({ type, data }) => [type, data["correctionId"], data["strategy"]])).toEqual([
      ["correction-proposed", session.sessionId, "retry"],
      ["correction-applied", session.sessionId, "retry"],
    ]);
    expect(told[0]?.data).toMatchObject({ diff: [{ path: "/steps/0/retry" }], needsApproval: false, path: "a" });
  });

  it("can be applied by nobody but its own session", async () => {
    world = createSupervisedWorld({ mode: "ask" });
    world.fails("test::once", Infinity);
    const plan = planOf("p", [saving(callStep("a", "test::once"), { optional: true })]);
    const { core } = await world.run(plan);
    const thief = planOf("thief", [callStep("steal", "ergon::correct", { sessionId: core.sessionId })]);
    const stolen = await world.run(thief);
    expect(stolen.core).toMatchObject({ status: "paused_on_error", lastError: { needsPerson: true } });
    expect((await world.engine.readSession({ owner: world.owner, sessionId: core.sessionId })).core).toEqual(core);
    const listed = world.registry.list().map(({ id }) => id);
    expect(listed).not.toContain("ergon::correct");
  });
});

describe("the supervisor leaves to a person", () => {
  it("a call whose outcome is unknown, untouched", async () => {
    world = createSupervisedWorld();
    world.losesOutcome("test::once");
    const plan = planOf("p", [saving(callStep("a", "test::once"), { optional: true, alternatives: ["test::other"] })]);
    const view = await world.run(plan);
    expect(view.core).toMatchObject({
      status: "paused_on_error",
      lastError: { code: "outcome_unknown", needsPerson: true },
    });
    expect(view.corrections).toBeUndefined();
    expect(world.calls).toHaveLength(1);
  });

  it(`a step that fails for the ${String(MAX_CORRECTIONS_PER_STEP + 1)}th time`, async () => {
    world = createSupervisedWorld();
    world.fails("test::flaky", Infinity);
    const view = await world.run(planOf("p", [callStep("a", "test::flaky")]));
    expect(view.core).toMatchObject({ status: "paused_on_error", lastError: { needsPerson: true, stepId: "a" } });
    expect(view.corrections).toHaveLength(MAX_CORRECTIONS_PER_STEP);
    expect(world.calls).toHaveLength(MAX_CORRECTIONS_PER_STEP + 1);
    // A person's retry does not give it new ones.
    await world.engine.resume({ owner: world.owner, sessionId: view.core.sessionId, input: { action: "retry" } });
    const again = await world.settled(view.core.sessionId);
    expect(again.core.lastError?.needsPerson).toBe(true);
    expect(world.calls).toHaveLength(MAX_CORRECTIONS_PER_STEP + 2);
    expect(new Set(world.calls.map(({ key }) => key)).size).toBe(2);
  });

  it("keeps a correction for each way out that is left", async () => {
    world = createSupervisedWorld();
    for (const toolId of ["test::flaky", "test::once", "test::other"]) world.fails(toolId, Infinity);
    const alternatives = ["test::once", "test::other"];
    const view = await world.run(planOf("p", [saving(callStep("a", "test::flaky"), { alternatives, optional: true })]));
    expect(view.core.status).toBe("completed");
    expect(view.corrections?.map(({ strategy, call }) => [strategy, call.toolId])).toEqual([
      ["retry", undefined],
      ["alternative_tool", "test::once"],
      ["alternative_tool", "test::other"],
      ["skip", undefined],
    ]);
  });

  it("and warns of it in the log, with plan and step", async () => {
    const logger = createMemoryLogger();
    world = createSupervisedWorld({ logger });
    world.fails("test::once", Infinity);
    const { core } = await world.run(planOf("p", [callStep("a", "test::once")]));
    expect(logger.entries().filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({
        message: `Supervisor: step "a" of plan "p" failed and needs a person. Its run waits: ergon sessions show ${core.sessionId}`,
        fields: expect.objectContaining({
          sessionId: core.sessionId,
          planId: "p",
          stepId: "a",
          code: "tool_failed",
          reason: "No correction fits.",
        }),
      }),
    ]);
  });

  it("a session that has used its budget", async () => {
    world = createSupervisedWorld({ sessionBudget: 2 });
    const steps = ["a", "b", "c"].map((id, at, all) =>
      callStep(id, "test::count", { n: { jsonPath: "$.promptInput.n" } }, all[at + 1]),
    );
    const view = await world.run(planOf("p", steps), { n: "5" });
    expect(view.core).toMatchObject({ status: "paused_on_error", lastError: { needsPerson: true, stepId: "c" } });
    expect(view.corrections).toHaveLength(2);
  });

  it("every failure when it is switched off, and what is no tool call", async () => {
    world = createSupervisedWorld({ mode: "off" });
    world.fails("test::flaky", 1);
    const view = await world.run(planOf("p", [callStep("a", "test::flaky")]));
    expect(view.core.lastError).toMatchObject({ needsPerson: true });
    expect(view.corrections).toBeUndefined();
  });

  it("a failure that a broken repairer cannot be asked about", async () => {
    world = createSupervisedWorld({ repairer: { repair: () => Promise.reject(new Error("no model today")) } });
    const view = await world.run(planOf("p", [callStep("a", "test::count", { n: { jsonPath: "$.promptInput.n" } })]), {
      n: "x",
    });
    expect(view.core.lastError).toMatchObject({ code: "args_invalid", needsPerson: true });
  });
});

describe("corrections that wait for a person", () => {
  const plan = planOf("p", [
    saving(callStep("a", "test::count", { n: { jsonPath: "$.promptInput.n" } }, "say")),
    say("r"),
  ]);

  it("are seen as an open wait, and carried out when they are accepted", async () => {
    world = createSupervisedWorld({ mode: "ask" });
    const { core } = await world.run(plan, { n: "5" });
    const session = { owner: world.owner, sessionId: core.sessionId };
    expect(core).toMatchObject({
      status: "paused_on_error",
      lastError: { needsPerson: true },
      waiting: [{ kind: "error", needsPerson: true, correction: { strategy: "repair_arguments", accepted: false } }],
    });
    expect((await world.engine.readSession(session)).corrections).toMatchObject([{ state: "proposed" }]);
    expect(world.calls).toEqual([]);
    await world.engine.resume({ ...session, input: { action: "accept" } });
    const view = await world.settled(core.sessionId);
    expect(view.core.status).toBe("completed");
    expect(view.corrections).toMatchObject([{ state: "applied" }]);
  });

  it("are dropped when they are refused, or when a person decides otherwise", async () => {
    world = createSupervisedWorld({ mode: "ask" });
    const { core } = await world.run(plan, { n: "5" });
    const session = { owner: world.owner, sessionId: core.sessionId };
    await world.engine.resume({ ...session, input: { action: "refuse" } });
    const refused = await world.settled(core.sessionId);
    expect(refused.core).toMatchObject({ status: "paused_on_error", waiting: [{ needsPerson: true }] });
    expect(refused.core.waiting[0]?.correction).toBeUndefined();
    expect(refused.corrections).toMatchObject([{ state: "refused" }]);
    await expect(world.engine.resume({ ...session, input: { action: "accept" } })).rejects.toMatchObject({
      code: "resume_input_invalid",
    });
    const other = await world.run(plan, { n: "6" });
    await world.engine.resume({
      owner: world.owner,
      sessionId: other.core.sessionId,
      input: { action: "retry", arguments: { n: 7 } },
    });
    const settled = await world.settled(other.core.sessionId);
    expect(settled.context["finalResponse"]).toMatchObject({ n: 7 });
    expect(settled.corrections).toMatchObject([{ state: "superseded" }]);
  });

  it("are refused from whoever may not approve, and with anything else beside", async () => {
    world = createSupervisedWorld({ mode: "ask" });
    const { core } = await world.run(plan, { n: "5" });
    const session = { owner: world.owner, sessionId: core.sessionId };
    for (const action of ["accept", "refuse"]) {
      await expect(world.engine.resume({ ...session, mayApprove: false, input: { action } })).rejects.toMatchObject({
        code: "forbidden",
      });
    }
    const more = { action: "accept", arguments: { n: 1 } };
    await expect(world.engine.resume({ ...session, input: more })).rejects.toSatisfy(isErgonError);
    expect((await world.engine.readSession(session)).core).toEqual(core);
  });
});
