import { adaptTool } from "@ergon/core/engine";
import { createEngineWorld } from "@ergon/core/testing";
import { expect, it } from "vitest";
import { serve } from "../http/serve.fixture.ts";
import { SUB_AGENT_TOOL_DEFINITIONS } from "./sub-agent-tools.ts";

it("the sub-agent's tools are such as a registry takes from anybody", async () => {
  const world = createEngineWorld();
  const served = await serve(world);
  try {
    const ids = ["ergon::enable_server", ...Object.keys(SUB_AGENT_TOOL_DEFINITIONS)];
    const tools = ids.flatMap((id) => world.registry.get(id) ?? []);
    expect(tools.map(({ id }) => id)).toEqual(ids);
    // Letting a server start is asked for by the sub-agent alone.
    expect(world.registry.list().map(({ id }) => id)).not.toContain("ergon::enable_server");
    for (const tool of tools) expect(adaptTool(tool)).toBe(tool);
  } finally {
    await served.close();
    await world.close();
  }
});
