import { createEngineWorld, type EngineWorld } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serve, type Served } from "./serve.fixture.ts";

describe("POST dry-run", () => {
  let world: EngineWorld;
  let served: Served;
  beforeEach(async () => {
    world = createEngineWorld();
    served = await serve(world);
  });
  afterEach(async () => {
    await served.close();
    await world.close();
  });

  it("says what a run would do, and leaves the session and the outbox as they were", async () => {
    const body = { context: { given: "x".repeat(70_000) }, energyBudget: 100 };
    const id = String((await served.ask("POST", "/sessions", { body })).body["sessionId"]);
    const before = await served.ask("GET", `/sessions/${id}`);
    const last = await world.store.lastEventSeq();
    const answer = await served.ask("POST", `/sessions/${id}/dry-run`, {
      body: { planId: "ask-twice" },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ dryRun: true, planId: "ask-twice", ok: true, calls: [] });
    expect((answer.body["waits"] as { path: string }[]).map(({ path }) => path).sort()).toEqual([
      "both[0]/one",
      "both[1]/two",
    ]);
    const plan = {
      planId: "reads",
      startStepId: "call",
      steps: [{ id: "call", type: "tool_call", toolId: "probe::echo", arguments: { value: "{{$.context.given}}" } }],
    };
    const reads = await served.ask("POST", `/sessions/${id}/dry-run`, { body: { plan } });
    expect(reads.body).toMatchObject({ ok: true, calls: [{ path: "call", toolId: "probe::echo" }] });
    expect((await served.ask("GET", `/sessions/${id}`)).body).toEqual(before.body);
    expect((await served.ask("GET", "/sessions")).body["items"]).toHaveLength(1);
    expect(await world.store.lastEventSeq()).toBe(last);
  });

  it("is refused like a run: 404 for a plan or session that is not there, 422 with all problems", async () => {
    const id = String((await served.ask("POST", "/sessions")).body["sessionId"]);
    const ask = (body: unknown, session = id) => served.ask("POST", `/sessions/${session}/dry-run`, { body });
    expect((await ask({ planId: "none" })).status).toBe(404);
    expect((await ask({ planId: "echo" }, "nobody")).status).toBe(404);
    const wrong = await ask({ planId: "echo", input: { text: 1 } });
    expect(wrong).toMatchObject({ status: 422, body: { code: "plan_invalid" } });
    expect(wrong.body.issues).toMatchObject([{ path: "$.input.text" }]);
    expect((await ask({ planId: "echo", plan: {} })).status).toBe(422);
  });
});
