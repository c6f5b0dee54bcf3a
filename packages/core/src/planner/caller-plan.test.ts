import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ToolRegistry } from "../tools/registry.ts";
import { McpLoopRunner } from "./mcp-loop.ts";

const ran: string[] = [];
const registry = new ToolRegistry();
for (const name of ["greet", "count"]) {
  registry.register({
    name,
    description: name === "greet" ? "Greets somebody by name." : "Counts the words of a text.",
    argsSchema: z.object({ [name === "greet" ? "who" : "text"]: z.string() }),
    run: () => {
      ran.push(name);
      return Promise.resolve({ done: name });
    },
  });
}
const runner = new McpLoopRunner({ registry });
const request = (sessionId: string) => ({
  mode: "general" as const,
  sessionId,
  messages: [{ role: "user" as const, content: "paint the fence" }],
});

describe("a plan of the caller's", () => {
  it("is asked for with a prompt that has the message and every tool, and nothing runs", async () => {
    ran.length = 0;
    const { success, data } = await runner.run({ ...request("p1"), planBy: "caller" });
    expect(success).toBe(true);
    expect(data?.plan).toEqual([]);
    expect(data?.planningPrompt?.user).toContain("paint the fence");
    for (const tool of ["greet", "count", "finalize_summary"]) expect(data?.planningPrompt?.user).toContain(tool);
    expect(JSON.stringify(data?.context)).not.toContain("vector");
    expect(ran).toEqual([]);
  });

  it("is asked for where the planner here is unsure, and only there", async () => {
    const unsure = await runner.run({ ...request("p2"), planBy: "either" });
    expect(unsure.data?.planningPrompt?.user).toContain("paint the fence");
    expect(unsure.data?.summaryMessage).toContain("not sure");
    const planner = () => [{ tool: "greet", args: { who: "Ada" } }];
    const sure = await new McpLoopRunner({ registry, planner }).run({ ...request("p3"), planBy: "either" });
    expect(sure.data?.planningPrompt).toBeUndefined();
    expect(sure.data?.intermediateResults).toHaveLength(1);
  });

  it("runs in place of one that is made here, and the turn is remembered once", async () => {
    ran.length = 0;
    await runner.run({ ...request("p4"), planBy: "caller" });
    const plan = [
      { tool: "count", args: { text: "a fence" } },
      { tool: "greet", args: { who: "Ada" } },
    ];
    const { success, data } = await runner.run({ ...request("p4"), plan });
    expect({ success, ran }).toEqual({ success: true, ran: ["count", "greet"] });
    expect(data?.trace?.["planner"]).toBe("caller");
    const after = await runner.run({ ...request("p4"), planBy: "caller" });
    const said = after.data?.context?.["recentMessages"] as readonly { readonly role: string }[];
    expect(said.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("is refused with everything that is wrong with it, and nothing runs", async () => {
    ran.length = 0;
    const plan = [
      { tool: "gret", args: { who: "Ada" } },
      { tool: "greet", args: {} },
      { tool: "count", args: { text: 7 } },
    ];
    const { response, thrown } = await runner.attempt({ ...request("p5"), plan });
    expect(response.success).toBe(false);
    expect(thrown?.code).toBe("plan_refused");
    const issues = thrown?.details?.["issues"] as readonly { readonly message: string }[];
    expect(issues).toHaveLength(3);
    const told = issues.map(({ message }) => message).join("\n");
    expect(told).toMatch(/gret[^]*"greet" needs who[^]*"count".*text/);
    expect(ran).toEqual([]);
  });
});
