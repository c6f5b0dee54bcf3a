import { describe, expect, it } from "vitest";
import { startScriptedServer } from "../../packages/node/src/models/scripted-server.fixture.ts";
import type { Target } from "./mcp-clients.ts";
import { prepareVectors } from "./prepared-vectors.ts";
import { EVERY_WAY, mcpFolder, sharedServer } from "./mcp-folder.ts";

type Prompt = { readonly system: string; readonly user: string };

describe("the MCP tool ask", { timeout: 120_000 }, () => {
  const { data, stdio, http, connect } = mcpFolder();
  const serve = (env: Readonly<Record<string, string>> = {}): Promise<Target> => http({ env });
  const shared = sharedServer();
  const targets = { stdio: async () => stdio(), HTTP: shared };

  it.each(EVERY_WAY)(
    "answers %s over %s, and hands the planning to its model where it is unsure",
    async (name, door) => {
      await prepareVectors(data());
      const client = await connect(name, await targets[door]());
      expect(await client.tools()).toContain("ask");
      const sure = await client.call("ask", { message: 'How many words are in "to be or not to be"?' });
      expect(sure.structured).toMatchObject({ status: "answered", plan: [{ tool: "demo::word_count" }, {}] });
      expect(sure.structured["answer"]).toContain("words: 6");
      expect(JSON.parse(sure.text)).toEqual(sure.structured);

      const message = "colour the bicycle purple";
      const unsure = await client.call("ask", { message });
      expect(unsure.structured).toMatchObject({ status: "needs_plan", results: [] });
      const { sessionId, planningPrompt } = unsure.structured as { sessionId: string; planningPrompt: Prompt };
      expect(planningPrompt.user).toContain("demo::greet");
      expect(planningPrompt.user).toContain(message);

      const wrong = await client.call("ask", {
        message,
        sessionId,
        plan: [
          { tool: "demo::paint", args: {} },
          { tool: "demo::greet", args: { who: 5 } },
        ],
      });
      expect(wrong).toMatchObject({ isError: true, structured: { code: "plan_refused" } });
      expect(wrong.structured["issues"]).toHaveLength(2);

      const plan = [{ tool: "demo::greet", args: { who: "the bicycle" } }];
      const planned = await client.call("ask", { message, sessionId, plan });
      expect(planned.structured).toMatchObject({
        sessionId,
        status: "answered",
        results: [{ tool: "demo::greet", success: true, output: { greeting: "Hello, the bicycle!" } }],
      });
      const seen = await client.call("get_session", { sessionId });
      expect(seen.structured).toMatchObject({ status: "completed" });
    },
  );

  it("gives the prompt at once to a caller that plans by itself, and refuses odd arguments", async () => {
    const client = await connect("SDK v2, 2026", await shared());
    const asked = await client.call("ask", { message: "greet Ada", planBy: "caller" });
    expect(asked.structured).toMatchObject({ status: "needs_plan" });
    for (const odd of [{}, { message: " " }, { message: "x", mode: "boss" }, { message: "x", plan: [] }]) {
      expect(await client.call("ask", odd)).toMatchObject({ isError: true, structured: { code: "input_invalid" } });
    }
  });

  it("is an error for the client when nothing came of it, and says whether all of it was done", async () => {
    const client = await connect("SDK v2, 2026", await shared());
    const fail = { tool: "demo::fail", args: { message: "out of paper" } };
    const message = "Print it";
    const failed = await client.call("ask", { message, plan: [fail] });
    expect(failed).toMatchObject({ isError: true, structured: { status: "failed", outcome: "failed" } });
    expect(failed.structured["answer"]).toContain("out of paper");
    const partly = await client.call("ask", { message, plan: [fail, { tool: "demo::greet", args: { who: "Ada" } }] });
    expect(partly).toMatchObject({ structured: { status: "answered", outcome: "partial" } });
  });

  it("lets the model of the settings plan, and keeps sessions to their principal", async () => {
    const greet = [
      { tool: "demo::greet", args: { who: "Ada" } },
      { tool: "finalize_summary", args: {} },
    ];
    const model = await startScriptedServer([JSON.stringify(greet), "Ada was greeted."]);
    try {
      const target = await serve({ ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url });
      const first = await connect("SDK v2, 2025", target);
      const { structured } = await first.call("ask", { message: "Say hello to Ada" });
      expect(structured).toMatchObject({ status: "answered", answer: "Ada was greeted." });
      const { sessionId } = structured;
      // Over stdio, through the owner, another principal asks.
      const other = await connect("SDK v1", await targets.stdio());
      const taken = await other.call("ask", { message: "Say hello to Bo", sessionId });
      expect(taken).toMatchObject({ isError: true, structured: { code: "session_not_found" } });
    } finally {
      await model.close();
    }
  });

  it("goes on when nobody waits any longer, and get_session finds what came of it", async () => {
    const greet = [{ tool: "demo::greet", args: { who: "Ada" } }];
    const model = await startScriptedServer([{ kind: "text", text: JSON.stringify(greet), delayMs: 1_500 }]);
    try {
      const client = await connect(
        "SDK v2, 2026",
        await serve({ ERGON_MODEL: "local/tiny", ERGON_MODEL_URL: model.url }),
      );
      const { structured } = await client.call("ask", { message: "Say hello to Ada", waitSeconds: 0 });
      expect(structured).toMatchObject({ status: "running" });
      const { sessionId } = structured;
      await expect
        .poll(async () => (await client.call("get_session", { sessionId })).structured["status"], { timeout: 30_000 })
        .toBe("completed");
    } finally {
      await model.close();
    }
  });
});
