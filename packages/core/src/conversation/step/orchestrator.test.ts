import { describe, expect, it } from "vitest";
import { createSystemClock } from "../../memory/clock.ts";
import { silentLogger } from "../../memory/logger.ts";
import { SUB_AGENT_TOOLS } from "../../hub/sub-agent.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { createOrchestrator, MAX_OFFERED_TOOLS } from "./orchestrator.ts";

const BUILTINS = ["await_energy", "end_conversation", "respond", "select_conversation", "snooze_conversation", "think"];

function withTools(ids: readonly string[]) {
  const registry = new ToolRegistry();
  for (const id of ids) {
    const definition = { id, description: `Does ${id}.`, parameters: { type: "object" } } as const;
    registry.register({ definition, implementation: async () => id });
  }
  const hidden = { id: "ergon::hidden", description: "Is not for models.", parameters: { type: "object" } } as const;
  registry.registerOwn({ definition: hidden, implementation: async () => 1 }, { isInternal: true });
  const orchestrator = createOrchestrator({ registry, clock: createSystemClock(), logger: silentLogger });
  const offered = async (about: string, which: "all" | "closing" = "all") =>
    (await orchestrator.offer(about, which)).map(({ id }) => id);
  return { orchestrator, offered };
}

describe("the orchestrator", () => {
  it("offers the six built-in tools and all others, as long as these are few", async () => {
    const { offered } = withTools(["garden", "weather"]);
    expect((await offered("anything")).toSorted()).toEqual([...BUILTINS, "garden", "weather"].toSorted());
    expect((await offered("anything", "closing")).toSorted()).toEqual(["end_conversation", "respond"]);
  });

  it("offers of many tools those nearest to what is talked about, the sub-agent's always", async () => {
    const many = Array.from({ length: MAX_OFFERED_TOOLS + 20 }, (_, n) => `filler${String(n)}`);
    const { offered } = withTools([...many, ...SUB_AGENT_TOOLS, "weather"]);
    const found = (await offered("How is the weather?")).filter((id) => !BUILTINS.includes(id));
    expect(found).toHaveLength(MAX_OFFERED_TOOLS);
    expect(found).toEqual(expect.arrayContaining([...SUB_AGENT_TOOLS, "weather"]));
  });

  it("sends a call where it belongs", async () => {
    const { orchestrator } = withTools(["weather"]);
    expect(await orchestrator.route({ tool: "weather", args: {} })).toEqual({ kind: "tool" });
    expect(await orchestrator.route({ tool: "ergon::hidden", args: {} })).toMatchObject({ kind: "missing" });
    expect(await orchestrator.route({ tool: "wether", args: {} })).toMatchObject({ kind: "missing" });
    expect(await orchestrator.route({ tool: "think", args: {} })).toMatchObject({ kind: "refused" });
    expect(await orchestrator.route({ tool: "think", args: { thought: "Hm." } })).toEqual({
      kind: "act",
      act: { tool: "think", thought: "Hm." },
    });
  });
});
