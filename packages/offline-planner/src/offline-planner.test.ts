import { defineAction, defineTool, type LoopRequest, McpLoopRunner, ToolRegistry } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const people: readonly Entity[] = [
  { kind: "profile", id: "p-1", name: "Amara Osei" },
  { kind: "profile", id: "p-2", name: "Zoë Müller" },
  { kind: "role", id: "r-1", name: "Data Engineer" },
  { kind: "role", id: "r-2", name: "Engineer" },
];

function world() {
  const registry = new ToolRegistry();
  const tool = (name: string, description: string, argsSchema: z.ZodObject, more: object = {}) =>
    registry.register(defineTool({ name, description, argsSchema, effects: "pure", run: ({ args }) => args, ...more }));
  tool("add", "Adds two numbers.", z.object({ a: z.number(), b: z.number() }), { title: "Add two numbers" });
  tool("count_words", "Counts the words of a text.", z.object({ text: z.string().min(1) }), { title: "Count words" });
  tool(
    "translate",
    "Translates a text to another language.",
    z.object({ text: z.string(), language: z.enum(["french", "german", "spanish"]) }),
  );
  tool(
    "load_file",
    "Reads a csv file from disk.",
    z.object({ filePath: z.string(), limit: z.int().max(100).default(10) }),
  );
  registry.register(
    defineAction({
      id: "getGaps",
      title: "Capability gaps",
      description: "Finds the capabilities that a person is missing for a role.",
      tags: ["missing", "lacking"],
      suggestedPostrequisites: ["getPlan"],
      argsSchema: z.object({ profileId: z.string(), roleId: z.string() }),
      getDefaultArgs: ({ profileId, roleId }) => ({ profileId, roleId }),
      actionFn: async ({ args }) => ({ success: true, message: `${args.profileId} for ${args.roleId}`, data: args }),
    }),
  );
  registry.register(
    defineAction({
      id: "getPlan",
      title: "Development plan",
      description: "Plans what a person should learn first to be ready for a role.",
      tags: ["learn", "develop"],
      suggestedPrerequisites: ["getGaps"],
      argsSchema: z.object({ profileId: z.string(), roleId: z.string() }),
      getDefaultArgs: ({ profileId, roleId }) => ({ profileId, roleId }),
      actionFn: async ({ args }) => ({ success: true, message: `plan for ${args.profileId}`, data: args }),
    }),
  );
  const runner = new McpLoopRunner({ registry, entities: async () => people });
  return async (content: string, more: Partial<LoopRequest> = {}) => {
    const request = { mode: "general", sessionId: "s", messages: [{ role: "user", content }], ...more } as LoopRequest;
    const { data } = await runner.run(request);
    const plan = (data?.plan ?? []).filter(({ tool: id }) => id !== "finalize_summary");
    return { plan, data, asked: data?.plan?.length === 0 ? data.summaryMessage : undefined };
  };
}

describe("the offline planner", () => {
  it.each([
    ["add 3 and 4.5", "add", { a: 3, b: 4.5 }],
    ["what do you get if you add twelve to -7?", "add", { a: 12, b: -7 }],
    ['count the words in "to be or not"', "count_words", { text: "to be or not" }],
    ["Please count words: one two three", "count_words", { text: "one two three" }],
    ["translate 'good night' to Spanish", "translate", { text: "good night", language: "spanish" }],
    ["translate “hello” into gerrman", "translate", { text: "hello", language: "german" }],
    ["read the csv file data/sales.csv, at most 20 rows", "load_file", { filePath: "data/sales.csv", limit: 20 }],
    ["Which capabilities is Amara Osei missing for Data Engineer?", "getGaps", { profileId: "p-1", roleId: "r-1" }],
    ["what is amara oesi lacking for data enginer", "getGaps", { profileId: "p-1", roleId: "r-1" }],
    ["missing capabilities of Zoe Muller for the role r-1", "getGaps", { profileId: "p-2", roleId: "r-1" }],
    ['use translate with {"text": "hi", "language": "french"}', "translate", { text: "hi", language: "french" }],
  ])("%s", async (message, tool, args) => {
    const { plan } = await world()(message);
    expect(plan[0]).toMatchObject({ tool, args });
  });

  it("plans all that is asked, in the order of the pathways, with reasons", async () => {
    const { plan, data } = await world()(
      "What should Amara Osei learn first, and which capabilities is she missing for Data Engineer?",
    );
    expect(plan.map(({ tool }) => tool)).toEqual(["getGaps", "getPlan"]);
    expect(plan[0]?.reason).toMatch(/offline planner: matches .*miss/);
    expect(plan[0]?.announcement).toBe("Capability gaps.");
    expect(data?.summaryMessage).toBe("p-1 for r-1.\nplan for p-1.");
  });

  it("asks when nothing speaks for a tool, and names the closest", async () => {
    const { plan, asked } = await world()("knit me a scarf");
    expect(plan).toEqual([]);
    expect(asked).toMatch(/^I am not sure what you want\. Closest are "/);
  });

  it("asks for an argument instead of guessing it", async () => {
    expect((await world()("count the words please")).asked).toMatch(/To use "Count words" I need text/);
    expect((await world()("add 3")).asked).toContain("I need b");
    expect((await world()("which capabilities is somebody missing?")).asked).toContain("profileId and roleId");
  });

  it("never takes a value that the tool would refuse", async () => {
    const { plan } = await world()("read the csv file a.csv, limit 5000");
    expect(plan[0]).toMatchObject({ tool: "load_file", args: { filePath: "a.csv" } });
    expect(plan[0]?.args).not.toHaveProperty("limit");
  });

  it("knows from what was said before whom a message means", async () => {
    const ask = world();
    await ask("Which capabilities is Amara Osei missing for Data Engineer?");
    const { plan } = await ask("And what should she learn first?");
    expect(plan).toMatchObject([{ tool: "getPlan", args: { profileId: "p-1", roleId: "r-1" } }]);
  });

  it("takes arguments from the context by the tools' own defaults", async () => {
    const { data } = await world()("which capabilities are missing?", { context: { profileId: "p-9", roleId: "r-9" } });
    expect(data?.intermediateResults?.[0]).toMatchObject({
      tool: "getGaps",
      input: { profileId: "p-9", roleId: "r-9" },
    });
  });

  it("takes a pack's own words for what its tools name and for what they do not do", async () => {
    const registry = new ToolRegistry();
    registry.register(
      defineTool({
        name: "role_fit",
        title: "Fitting roles",
        description: "Finds the roles that fit an employee.",
        argsSchema: z.object({ employeeId: z.string() }),
        run: () => 1,
      }),
    );
    const calls = async (content: string, words: Partial<Entity>) => {
      const known: readonly Entity[] = [{ kind: "profile", id: "p-1", name: "Amara Osei", ...words }];
      const runner = new McpLoopRunner({ registry, entities: async () => known });
      const { data } = await runner.run({ mode: "general", sessionId: "s", messages: [{ role: "user", content }] });
      return { args: data?.plan?.[0]?.args, said: data?.summaryMessage };
    };
    const words = { kindAliases: ["employee"], kindVerbs: ["hire"] };
    expect((await calls("fitting roles of Amara Osei", words)).args).toEqual({ employeeId: "p-1" });
    expect((await calls("fitting roles of Amara Osei", {})).args).not.toEqual({ employeeId: "p-1" });
    const hire = "Hire Amara Osei into fitting roles";
    expect(await calls(hire, words)).toEqual({ said: `I left out "${hire}": no tool here can hire that.` });
    expect((await calls(hire, {})).args).toBeDefined();
  });

  it("ranks first what is recommended", async () => {
    const { plan } = await world()("what about 3 and 4", { plannerRecommendations: [{ tool: "add" }] });
    expect(plan).toMatchObject([{ tool: "add", args: { a: 3, b: 4 } }]);
  });

  it("takes a tool's id for the tool, whatever else is said", async () => {
    const { plan } = await world()("run count_words on 'add two numbers'");
    expect(plan).toMatchObject([{ tool: "count_words", args: { text: "add two numbers" } }]);
  });

  it("says so where there is no tool at all", async () => {
    const runner = new McpLoopRunner({ registry: new ToolRegistry() });
    const { data } = await runner.run({ mode: "general", sessionId: "s", messages: [{ role: "user", content: "hi" }] });
    expect(data?.summaryMessage).toContain("no tool here");
  });

  it("plans on without names when they cannot be looked up", async () => {
    const registry = new ToolRegistry();
    registry.register(
      defineTool({
        name: "count_words",
        description: "Counts words.",
        argsSchema: z.object({ text: z.string() }),
        run: () => 1,
      }),
    );
    const runner = new McpLoopRunner({ registry, entities: () => Promise.reject(new Error("down")) });
    const { data } = await runner.run({
      mode: "general",
      sessionId: "s",
      messages: [{ role: "user", content: 'count words of "a b"' }],
    });
    expect(data?.plan?.[0]).toMatchObject({ tool: "count_words" });
    expect(data?.trace?.["warnings"]).toMatchObject([{ code: "entities_unavailable" }]);
  });
});
