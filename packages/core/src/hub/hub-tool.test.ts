import { describe, expect, it } from "vitest";
import { callStep, planOf } from "../../testing/engine/engine-world.ts";
import { askingWorld } from "../../testing/hub/asking-world.ts";
import { hubFacts, type HubInvocation, hubTool, type HubToolSource } from "./hub-tool.ts";

describe("what is relied on of a server's tool", () => {
  it.each([
    ["a command that is run elsewhere", { cwd: "/b" }],
    ["another reference in its environment", { env: { KEY: "${OTHER}" } }],
    ["another name in its environment", { env: { KEY: "${KEY}", NODE_OPTIONS: "[hidden]" } }],
  ])("is another thing with %s", (_, change) => {
    const listed = { name: "read", description: "Reads.", inputSchema: { type: "object" } };
    const config = { id: "a", name: "a", enabled: true, command: "node", args: ["s.ts"], cwd: "/a" };
    const written = { ...config, env: { KEY: "${KEY}" } };
    const factsOf = (more: object) =>
      hubFacts(listed, { config, written: { ...written, ...more } } as unknown as HubToolSource);
    expect(factsOf({}).fingerprint).toBe(factsOf({}).fingerprint);
    expect(factsOf(change).fingerprint).not.toBe(factsOf({}).fingerprint);
  });
});

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
