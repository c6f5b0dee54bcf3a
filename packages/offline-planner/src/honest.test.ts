import { defineTool, McpLoopRunner, ToolRegistry } from "@ergon/core";
import { createHashEmbedder } from "@ergon/core/store-kit";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";

const registry = new ToolRegistry();
beforeAll(() => {
  const number = z.number();
  registry.register(
    defineTool({
      name: "demo::add",
      title: "Add two numbers",
      description: "Adds two numbers.",
      argsSchema: z.object({ a: number.describe("The first number"), b: number.describe("The second number") }),
      run: async ({ args }) => ({ sum: args.a + args.b }),
    }),
  );
  registry.register(
    defineTool({
      name: "demo::sleep",
      title: "Sleep",
      description: "Waits for a while, reports how far it is, and wakes at once when it is cancelled.",
      argsSchema: z.object({ ms: z.int().min(0).max(600_000).describe("How long, in milliseconds") }),
      run: async ({ args }) => ({ sleptMs: args.ms }),
    }),
  );
  registry.register(
    defineTool({
      name: "demo::greet",
      title: "Greet somebody",
      description: "Greets a person by name.",
      argsSchema: z.object({ who: z.string().describe("Whom to greet") }),
      run: async ({ args }) => ({ greeting: `Hello, ${args.who}!` }),
    }),
  );
  registry.register(
    defineTool({
      name: "forget",
      title: "Forget a request",
      description: "Forgets a request; what was installed for it is removed or deleted.",
      argsSchema: z.object({ requestId: z.string() }),
      run: async () => null,
    }),
  );
  registry.register(
    defineTool({
      name: "list_datasets",
      title: "List datasets",
      description: "Lists all datasets of the sessions that are loaded.",
      argsSchema: z.object({}),
      run: async () => ({ datasets: [] }),
    }),
  );
});

async function ask(content: string) {
  const runner = new McpLoopRunner({ registry, embedder: createHashEmbedder() });
  const { response } = await runner.attempt({
    mode: "general",
    sessionId: "s",
    messages: [{ role: "user", content }],
  });
  const data = response.data;
  const calls = (data?.plan ?? []).filter(({ tool }) => tool !== "finalize_summary");
  return { calls, said: data?.summaryMessage ?? "", outcome: data?.outcome };
}

describe("the offline planner, honestly", () => {
  it.each([
    ["Please add these two numbers: 10 and 20", { a: 10, b: 20 }],
    ["Add the two numbers 2 and 3", { a: 2, b: 3 }],
    ["add these two: 4 and 5", { a: 4, b: 5 }],
    ["add two and three", { a: 2, b: 3 }],
  ])("takes how many there are for none of them: %s", async (message, args) => {
    expect((await ask(message)).calls).toMatchObject([{ tool: "demo::add", args }]);
  });

  it.each([
    ["sleep for 20 seconds", 20_000],
    ["sleep for 5 minutes", 300_000],
    ["sleep two seconds", 2_000],
    ["sleep for 250 ms", 250],
    ["sleep for 1.5 s", 1_500],
  ])("converts units of time: %s", async (message, ms) => {
    expect((await ask(message)).calls).toMatchObject([{ tool: "demo::sleep", args: { ms } }]);
  });

  it("asks where the converted value is not allowed", async () => {
    const { calls, said, outcome } = await ask("sleep for 3 hours");
    expect({ calls, outcome }).toEqual({ calls: [], outcome: "waiting" });
    expect(said).toContain("I need ms");
  });

  it.each(["Delete all my sessions", "Please remove the datasets", "Could you email the datasets to Bob"])(
    "does nothing else for a verb that no tool covers: %s",
    async (message) => {
      const { calls, said, outcome } = await ask(message);
      expect({ calls, outcome }).toEqual({ calls: [], outcome: "waiting" });
      expect(said).toMatch(/no tool here can (delete|remove|email)/);
    },
  );

  it("calls a tool that the message names by its id", async () => {
    expect((await ask("please call demo::add with 2 and 3")).calls).toMatchObject([
      { tool: "demo::add", args: { a: 2, b: 3 } },
    ]);
  });

  it("does what it can of a message and says what it left out", async () => {
    const { calls, said, outcome } = await ask("Book me a flight to Berlin and greet Carol");
    expect(calls).toMatchObject([{ tool: "demo::greet", args: { who: "Carol" } }]);
    expect(outcome).toBe("partial");
    expect(said).toContain("Hello, Carol!");
    expect(said).toContain('I left out "Book me a flight to Berlin": no tool here can book that.');
  });

  it("says which quoted words it had no use for", async () => {
    const { said, outcome } = await ask('add 2 and 3 "in French"');
    expect(said).toContain('I had no use for "in French".');
    expect(outcome).toBe("partial");
  });

  it.each(["What can you do?", "which tools do you have", "help"])("lists its tools: %s", async (message) => {
    const { said, outcome } = await ask(message);
    expect(said).toContain("- Greet somebody (demo::greet)");
    expect(outcome).toBe("answered");
  });

  it("finds the one tool that a program has registered", async () => {
    const one = new ToolRegistry();
    one.register(
      defineTool({
        name: "add",
        description: "Adds two numbers.",
        argsSchema: z.object({ a: z.number(), b: z.number() }),
        run: async ({ args }) => args.a + args.b,
      }),
    );
    const response = await new McpLoopRunner({ registry: one }).run({
      mode: "general",
      sessionId: "s",
      messages: [{ role: "user", content: "add 2 and 3" }],
    });
    expect(response).toMatchObject({ success: true, data: { context: { add: 5 } } });
  });

  it("takes a name with a slash whole", async () => {
    const one = new ToolRegistry();
    one.register(
      defineTool({
        name: "add_server",
        description: "Adds an MCP server.",
        argsSchema: z.object({ serverName: z.string() }),
        run: async ({ args }) => args.serverName,
      }),
    );
    const response = await new McpLoopRunner({ registry: one }).run({
      mode: "general",
      sessionId: "s",
      messages: [{ role: "user", content: "add the MCP server io.github.aud/weather" }],
    });
    expect(response.data?.plan?.[0]).toMatchObject({ args: { serverName: "io.github.aud/weather" } });
  });
});
