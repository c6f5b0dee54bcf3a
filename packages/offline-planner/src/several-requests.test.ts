import { defineTool, McpLoopRunner, ToolRegistry } from "@ergon/core";
import type { Entity } from "@ergon/core/planner";
import { describe, expect, it } from "vitest";
import { z } from "zod";

const known: readonly Entity[] = [
  { kind: "profile", id: "p-1", name: "Amara Osei" },
  { kind: "profile", id: "p-2", name: "Kwame Boateng" },
  { kind: "role", id: "r-1", name: "Data Engineer" },
];

function world() {
  const registry = new ToolRegistry();
  const tool = (name: string, title: string, description: string, argsSchema: z.ZodObject) =>
    registry.register(defineTool({ name, title, description, argsSchema, effects: "pure", run: ({ args }) => args }));
  tool("add", "Add two numbers", "Adds two numbers.", z.object({ a: z.number(), b: z.number() }));
  tool("word_count", "Count words", "Counts the words of a text.", z.object({ text: z.string().min(1) }));
  tool("greet", "Greet someone", "Greets someone by name.", z.object({ who: z.string().min(1) }));
  tool(
    "translate",
    "Translate a text",
    "Translates a text into another language.",
    z.object({ text: z.string(), language: z.enum(["french", "german", "spanish"]) }),
  );
  tool(
    "gaps",
    "Capability gaps",
    "Finds the capabilities that a person is missing for a role.",
    z.object({ profileId: z.string(), roleId: z.string() }),
  );
  tool("roles", "Matching roles", "Finds the roles that fit a person best.", z.object({ profileId: z.string() }));
  const runner = new McpLoopRunner({ registry, entities: async () => known });
  return async (content: string) => {
    const { data } = await runner.run({ mode: "general", sessionId: "s", messages: [{ role: "user", content }] });
    const plan = (data?.plan ?? []).filter(({ tool: id }) => id !== "finalize_summary");
    return { calls: Object.fromEntries(plan.map(({ tool: id, args }) => [id, args])), plan, data };
  };
}

describe("a message that asks for several things", () => {
  it.each([
    [
      'How many words are in "to be or not to be", and greet Ada Lovelace',
      { word_count: { text: "to be or not to be" }, greet: { who: "Ada Lovelace" } },
    ],
    [
      'Greet Ada Lovelace and count the words of "to be or not to be"',
      { word_count: { text: "to be or not to be" }, greet: { who: "Ada Lovelace" } },
    ],
    [
      'Count the words in "a b c". Then greet "Grace Hopper".',
      { word_count: { text: "a b c" }, greet: { who: "Grace Hopper" } },
    ],
    ["Add 3 and 4, and greet Alan Turing", { add: { a: 3, b: 4 }, greet: { who: "Alan Turing" } }],
    [
      'Translate "good night" into Spanish, and count the words in "one two"',
      { translate: { text: "good night", language: "spanish" }, word_count: { text: "one two" } },
    ],
    [
      'Count the words of "good night" and translate it into German',
      { word_count: { text: "good night" }, translate: { text: "good night", language: "german" } },
    ],
    [
      "Which capabilities is Amara Osei missing for Data Engineer, and which roles fit Kwame Boateng best?",
      { gaps: { profileId: "p-1", roleId: "r-1" }, roles: { profileId: "p-2" } },
    ],
    [
      "Which capabilities is Amara Osei missing for Data Engineer, and which roles fit her best?",
      { gaps: { profileId: "p-1", roleId: "r-1" }, roles: { profileId: "p-1" } },
    ],
  ])("reads each argument where its tool was named: %s", async (message, expected) => {
    expect((await world()(message)).calls).toEqual(expected);
  });

  it.each([
    ["Greet Ada Lovelace but don't greet Alan Turing", [{ who: "Ada Lovelace" }]],
    ["Don't greet Alan Turing, but greet Ada Lovelace", [{ who: "Ada Lovelace" }]],
    ["Don't greet Alan Turing", []],
    ["Don't forget to greet Ada Lovelace", [{ who: "Ada Lovelace" }]],
  ])("does not do what it says not to: %s", async (message, expected) => {
    expect((await world()(message)).plan.map(({ args }) => args)).toEqual(expected);
  });

  it("calls a tool again for another, and once for what is said twice", async () => {
    const ask = world();
    const greeted = await ask("Greet Ada Lovelace, and greet Alan Turing");
    expect(greeted.plan.map(({ args }) => args)).toEqual([{ who: "Ada Lovelace" }, { who: "Alan Turing" }]);
    expect(greeted.data?.summaryMessage).toBe("who: Ada Lovelace.\nwho: Alan Turing.");
    const counted = await ask('Count the words of "a b". How many words is that?');
    expect(counted.plan).toMatchObject([{ tool: "word_count", args: { text: "a b" } }]);
  });

  it("plans in the order in which it was asked", async () => {
    const ask = world();
    const order = async (message: string) => (await ask(message)).plan.map(({ tool }) => tool);
    expect(await order('Greet Ada Lovelace, then count the words in "a b"')).toEqual(["greet", "word_count"]);
    expect(await order('Count the words in "a b", then greet Ada Lovelace')).toEqual(["word_count", "greet"]);
  });

  it("takes nothing from another tool's clause that its own does not point back at", async () => {
    const { calls, data } = await world()('Count the words in "a b c", and greet the new person');
    expect(calls).toEqual({ word_count: { text: "a b c" } });
    expect(data?.trace?.["warnings"]).toMatchObject([{ code: "argument_unknown" }]);
  });

  it("knows who is spoken to from what is said", async () => {
    const { calls } = await world()('greet: say "Bonjour" to Marie Curie');
    expect(calls).toEqual({ greet: { who: "Marie Curie" } });
  });
});
