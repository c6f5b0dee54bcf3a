import { callStep, createEngineWorld, type EngineWorld, planOf } from "@ergon/core/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIRST_TOKEN, LOCAL_TOKEN, serve, type Served } from "../http/serve.fixture.ts";
import { type RawClient, rawClient, resultOf } from "./transport/raw-client.fixture.ts";

let world: EngineWorld;
let served: Served;
let client: RawClient;
let bot: string;
let erased = 0;

beforeEach(async () => {
  world = createEngineWorld();
  erased = 0;
  world.registry.register({
    definition: { id: "probe::erase", description: "d", parameters: { type: "object" }, destructiveHint: true },
    implementation: () => Promise.resolve((erased += 1)),
  });
  served = await serve({ ...world, plans: [planOf("erase", [callStep("a", "probe::erase")])] });
  client = rawClient(served);
  bot = await served.tokenFor("bot", "agent");
});
afterEach(async () => {
  await served.close();
  await world.close();
});

describe("a client over MCP", () => {
  const call = async (name: string, args: object, token: string) => {
    const answer = resultOf(await client.modern("tools/call", { name, arguments: args }, { token }));
    return answer as { isError?: boolean; structuredContent?: Record<string, unknown>; content: unknown };
  };

  it("is told that a person must approve, cannot do it itself, and finds the outcome when they have", async () => {
    const { structuredContent: paused } = await call("run_plan", { planId: "erase" }, bot);
    const [wait] = (paused?.["waiting"] ?? []) as readonly { approvalId: string }[];
    expect(paused).toMatchObject({ status: "paused_on_human", waiting: [{ kind: "approval", path: "a" }] });
    expect(paused?.["next"]).toContain(`ergon approvals approve ${wait?.approvalId ?? ""}`);
    expect(paused?.["next"]).not.toContain("resume_session");
    const { sessionId } = paused ?? {};
    for (const token of [bot, FIRST_TOKEN]) {
      for (const input of [{ decision: "approve" }, { action: "accept" }, true]) {
        const { isError } = await call("resume_session", { sessionId, input, waitSeconds: 0 }, token);
        expect(isError).toBe(true);
      }
    }
    expect(erased).toBe(0);
    await served.ask("POST", `/approvals/${wait?.approvalId ?? ""}`, { body: { decision: "approve" } });
    const { structuredContent: done } = await call("get_session", { sessionId, waitSeconds: 30 }, bot);
    expect(done).toMatchObject({ status: "completed" });
    expect(erased).toBe(1);
  });

  it("cannot accept what the supervisor proposed, and neither can a process that acts for one", async () => {
    const session = { owner: "bot", sessionId: "s" };
    await world.engine.executePlan({ ...session, plan: planOf("f", [callStep("a", "probe::fail")]), create: true });
    await world.engine.settled(session);
    const [failure] = await world.engine.corrections.failures(session);
    await world.engine.corrections.propose(session, {
      correctionId: "cor_1",
      state: "proposed",
      strategy: "skip",
      summary: "Skip it.",
      stepId: "a",
      path: "a",
      position: failure?.position ?? "",
      run: 1,
      error: { code: "tool_failed", message: "told to fail", retryable: false },
      diff: [],
      call: { action: "skip" },
      proposedAt: "2026-01-01T00:00:00.000Z",
    });
    const accept = { input: { action: "accept" } };
    const answered = await call("resume_session", { sessionId: "s", ...accept, waitSeconds: 0 }, bot);
    expect(answered.isError).toBe(true);
    expect(JSON.stringify(answered.content)).toContain("scope person");
    const acting = { token: LOCAL_TOKEN, headers: { "ergon-owner": "bot" } };
    const refused = await served.ask("POST", "/sessions/s/resume", {
      ...acting,
      body: { ...accept, mayApprove: false },
    });
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect((await served.ask("POST", "/sessions/s/resume", { ...acting, body: accept })).status).toBe(202);
  });
});
