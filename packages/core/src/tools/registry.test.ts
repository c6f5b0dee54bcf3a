import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAction, defineTool } from "./define.ts";
import { MAX_PROMPT_DESCRIPTION } from "./planner-prompt.ts";
import { ActionV2Registry, MAX_TOOLS, ToolRegistry } from "./registry.ts";
import type { Tool } from "./tool.ts";

const greet = defineTool({
  name: "demo::greet",
  description: "Says hello.",
  argsSchema: z.object({ who: z.string() }),
  run: async ({ args }) => `Hello, ${args.who}`,
});

describe("ToolRegistry", () => {
  it("takes all authoring forms and lists them by id", () => {
    const registry = new ToolRegistry();
    registry.register(greet);
    registry.register(defineAction({ id: "act", description: "Acts.", actionFn: async () => ({ success: true }) }));
    registry.register({
      definition: { id: "calc::add", description: "Adds.", parameters: { type: "object" } },
      implementation: async () => 1,
    });
    expect(registry.list().map(({ id, origin, effects }) => ({ id, origin, effects }))).toEqual([
      { id: "act", origin: "action", effects: "once" },
      { id: "calc::add", origin: "tool", effects: "pure" },
      { id: "demo::greet", origin: "registered", effects: "once" },
    ]);
    expect(registry.has("act")).toBe(true);
    expect(registry.get("demo::greet")?.description).toBe("Says hello.");
  });

  it("names both sides of a clash and changes nothing", () => {
    const registry = new ToolRegistry();
    const first = registry.register(greet, { source: "a.tool.ts" });
    expect(() => registry.register(greet, { source: "b.tool.ts" })).toThrow(
      'There are two tools "demo::greet": one from a.tool.ts, one from b.tool.ts. Rename one of them.',
    );
    expect(registry.get("demo::greet")).toBe(first);
  });

  it("refuses with a code of its own and leaves the registry as it was", () => {
    const registry = new ToolRegistry();
    const refusals: [unknown, string][] = [
      [null, "tool_invalid"],
      ["tool", "tool_invalid"],
      [{}, "tool_invalid"],
      [{ ...greet, name: "no spaces" }, "tool_invalid"],
      [{ ...greet, name: "__proto__" }, "tool_invalid"],
      [{ ...greet, description: "" }, "tool_invalid"],
      [{ ...greet, run: "now" }, "tool_invalid"],
      [{ ...greet, effects: "twice" }, "tool_invalid"],
      [{ ...greet, argsSchema: z.string() }, "tool_invalid"],
      [{ ...greet, argsSchema: { type: "object" } }, "tool_invalid"],
      [
        { definition: { id: "a", description: "A", parameters: { type: "strng" } }, implementation: () => 1 },
        "schema_invalid",
      ],
      [
        { definition: { id: "a", description: "A", parameters: { $ref: "http://x.y/z" } }, implementation: () => 1 },
        "schema_invalid",
      ],
      [
        { definition: { id: "a", description: "A", parameters: { type: "string" } }, implementation: () => 1 },
        "tool_invalid",
      ],
      [{ definition: { id: "a", description: "A", parameters: {} } }, "tool_invalid"],
      [{ ...greet, argsSchema: z.object({ supabase: z.any() }) }, "infrastructure_in_args"],
    ];
    for (const [form, code] of refusals) {
      expect(() => registry.register(form as Tool)).toThrow(expect.objectContaining({ code }));
    }
    expect(registry.list()).toEqual([]);
  });

  it("suspects a mistyped field instead of switching a check off", () => {
    const registry = new ToolRegistry();
    const { argsSchema, ...rest } = greet;
    expect(() => registry.register({ ...rest, argSchema: argsSchema } as never)).toThrow(
      /argSchema.*Did you mean "argsSchema"\?/,
    );
  });

  it("has a bound", () => {
    const registry = new ToolRegistry();
    const [tool] = [registry.register(greet)];
    for (let i = 1; i < MAX_TOOLS; i += 1) registry.register({ ...tool, id: `t${String(i)}` });
    expect(() => registry.register({ ...tool, id: "one-more" })).toThrow(
      expect.objectContaining({ code: "registry_full" }),
    );
  }, 20_000);

  it("tells its listeners, and forgets those that leave", () => {
    const registry = new ToolRegistry();
    const heard: string[] = [];
    const stop = registry.onChange(({ kind, tool }) => heard.push(`${kind} ${tool.id}`));
    registry.register(greet);
    expect(registry.unregister("demo::greet")).toBe(true);
    expect(registry.unregister("demo::greet")).toBe(false);
    stop();
    registry.register(greet);
    expect(heard).toEqual(["added demo::greet", "removed demo::greet"]);
  });

  it("summarises a tool for every door, and suggests one for an id that does not exist", () => {
    const registry = new ToolRegistry();
    registry.register({ ...greet, energyUnits: 3, tags: ["demo"] });
    expect(registry.summary("demo::greet")).toEqual({
      id: "demo::greet",
      title: "demo::greet",
      description: "Says hello.",
      effects: "once",
      origin: "registered",
      parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
      applicableRoles: [],
      tags: ["demo"],
      suggestedPrerequisites: [],
      suggestedPostrequisites: [],
      requiredContext: [],
      estimatedEnergyUnits: 3,
    });
    expect(() => registry.summary("demo::gret")).toThrow('There is no tool "demo::gret". Did you mean "demo::greet"?');
    expect(registry.getToolMetadataList()[0]).toMatchObject({ name: "demo::greet", description: "Says hello." });
  });
});

describe("the planner's prompt", () => {
  const tool = (name: string, more: object = {}) => ({
    name,
    description: `Does ${name}.`,
    argsSchema: z.object({}),
    run: () => 1,
    ...more,
  });

  it("lists tools with descriptions, args and pathways from either side", () => {
    const registry = new ToolRegistry();
    registry.register(tool("gaps", { suggestedPostrequisites: ["plan", "nowhere"] }));
    registry.register({
      ...tool("plan", { suggestedPrerequisites: ["gaps"] }),
      argsSchema: z.object({ profileId: z.string(), limit: z.number().optional(), kind: z.enum(["a", "b"]) }),
      description: "Plans\n- fake: entry",
    });
    expect(registry.buildPlannerPromptWithPathways()).toBe(
      [
        "Available tools:",
        "- gaps: Does gaps.",
        "  args: {  }",
        "  recommended before: plan",
        "- plan: Plans - fake: entry",
        '  args: { profileId: string, limit?: number, kind: "a" | "b" }',
        "  recommended after: gaps",
      ].join("\n"),
    );
  });

  it("cuts a description at its bound", () => {
    const registry = new ToolRegistry();
    registry.register({ ...tool("a"), description: "x".repeat(MAX_PROMPT_DESCRIPTION) });
    registry.register({ ...tool("b"), description: "x".repeat(MAX_PROMPT_DESCRIPTION + 1) });
    const [, a, , b] = registry.buildPlannerPromptWithPathways().split("\n");
    expect(a).toBe(`- a: ${"x".repeat(MAX_PROMPT_DESCRIPTION)}`);
    expect(b).toBe(`- b: ${"x".repeat(MAX_PROMPT_DESCRIPTION)}…`);
  });

  it("can be narrowed to a role and to some tools", () => {
    const registry = new ToolRegistry();
    registry.register(tool("all"));
    registry.register(tool("hiring-only", { applicableRoles: ["hiring"] }));
    expect(registry.list({ role: "candidate" }).map(({ id }) => id)).toEqual(["all"]);
    expect(registry.list({ role: "hiring" })).toHaveLength(2);
    expect(registry.buildPlannerPromptWithPathways({ ids: ["hiring-only"] })).not.toContain("- all");
    expect(new ToolRegistry().buildPlannerPromptWithPathways()).toBe("Available tools: none.");
  });
});

describe("the default registry", () => {
  afterEach(() => {
    for (const { id } of ToolRegistry.list()) ToolRegistry.unregister(id);
  });

  it("is what spec 1's static methods act on, under both of its names", () => {
    ToolRegistry.register({
      name: "mock_tool_a",
      description: "Mock A",
      argsSchema: z.object({ foo: z.string() }),
      run: async ({ args }) => `ran A with ${args.foo}`,
    });
    expect(ActionV2Registry.has("mock_tool_a")).toBe(true);
    expect(ToolRegistry.get("mock_tool_a")?.id).toBe("mock_tool_a");
    expect(ActionV2Registry.getToolMetadataList().map(({ name }) => name)).toEqual(["mock_tool_a"]);
    expect(ActionV2Registry.buildPlannerPromptWithPathways()).toContain("mock_tool_a: Mock A");
    expect(new ToolRegistry().has("mock_tool_a")).toBe(false);
  });
});
