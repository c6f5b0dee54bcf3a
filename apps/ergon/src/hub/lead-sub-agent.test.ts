import { adaptTool } from "@ergon/core";
import { createEngineWorld } from "@ergon/core/testing";
import { expect, it } from "vitest";
import { serve } from "../http/serve.fixture.ts";
import { SUB_AGENT_TOOL_DEFINITIONS } from "./sub-agent-tools.ts";

it("the sub-agent's tools are such as a registry takes from anybody", async () => {
  const world = createEngineWorld();
  const served = await serve(world);
  try {
    const ids = ["ergon::enable_server", ...Object.keys(SUB_AGENT_TOOL_DEFINITIONS)];
    const tools = world.registry.list({ ids });
    expect(tools.map(({ id }) => id).sort()).toEqual(ids.sort());
    for (const tool of tools) expect(adaptTool(tool)).toBe(tool);
  } finally {
    await served.close();
    await world.close();
  }
});
