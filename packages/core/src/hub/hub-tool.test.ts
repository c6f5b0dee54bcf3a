import { describe, expect, it } from "vitest";
import { callStep, planOf } from "../../testing/engine/engine-world.ts";
import { askingWorld } from "../../testing/hub/asking-world.ts";
import { type HubInvocation, hubTool, type HubToolSource } from "./hub-tool.ts";

describe("a call of a server's tool", () => {
  it("is told of with the session and the conversation that it was for", async () => {
    const world = askingWorld({ autoApprove: true });
    const { registry, engine, clock } = world;
    const invoked: HubInvocation[] = [];
    const config = { id: "notes", name: "notes", enabled: true, command: "notes" };
    const source: HubToolSource = {
      config,
      written: config,
      call: async () => ({ content: [{ type: "text", text: "read" }], isError: false }),
      ask: async () => null,
      back: async () => true,
      clock,
      onInvoked: (invocation) => invoked.push(invocation),
    };
    const listed = { name: "read", description: "Reads.", inputSchema: { type: "object" } };
    registry.register(hubTool("notes_read", listed, source).tool);
    const plan = planOf("p", [callStep("a", "notes_read", {})]);
    for (const [sessionId, talk] of [
      ["s", { conversationId: "c" }],
      ["t", {}],
    ] as const) {
      await engine.executePlan({ owner: "me", sessionId, create: true, plan, ...talk });
      await engine.settled({ owner: "me", sessionId });
    }
    await world.close();
    expect(invoked).toMatchObject([
      { toolName: "notes_read", sessionId: "s", conversationId: "c", outcome: { result: "read" } },
      { toolName: "notes_read", sessionId: "t" },
    ]);
    expect(invoked[1]).not.toHaveProperty("conversationId");
  });
});
