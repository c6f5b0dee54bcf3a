import { z } from "zod";
import { defineTool } from "../src/tools/define.ts";
import type { ToolMetadata } from "../src/tools/adapt/tool-metadata.ts";
import { ToolRegistry } from "../src/tools/registry.ts";

/** A tool that does what spec 1's tests ask of it, and remembers how it was called. */
export type MockTool = ToolMetadata & {
  readonly calls: readonly { readonly args: unknown; readonly context: unknown }[];
};

export type MockTools = { readonly registry: ToolRegistry; readonly tools: Readonly<Record<string, MockTool>> };

const person = { profileId: z.string() };

/** Spec 1's mock set: `mock_tool_a`, `mock_tool_b` and the five talent tools, in a registry of their own or a given one. */
export function createMockTools(registry: ToolRegistry = new ToolRegistry()): MockTools {
  const made = [
    mock("mock_tool_a", "Mock A", z.object({ foo: z.string() }), ({ foo }) => `ran A with ${foo}`),
    mock("mock_tool_b", "Mock B", z.object({ x: z.number() }), ({ x }) => ({ doubled: x * 2 })),
    mock(
      "getCapabilityGaps",
      "Finds the capabilities that a person lacks for a role.",
      z.object({ ...person, roleId: z.string() }),
      () => ({
        matched: [],
        missing: ["foo"],
      }),
    ),
    mock("getDevelopmentPlan", "Plans what a person should learn.", z.object(person), () => ({
      steps: [{ name: "learn foo" }],
    })),
    mock("getMatchingRolesForPerson", "Finds roles that fit a person.", z.object(person), () => ({
      roles: [{ title: "Analyst", fit: 82 }],
    })),
    mock(
      "getSemanticSkillRecommendations",
      "Recommends skills that are close to a person's own.",
      z.object(person),
      () => ({
        skills: [{ name: "statistics", similarity: 0.8 }],
      }),
    ),
    mock("getSuggestedCareerPaths", "Suggests where a career can lead.", z.object(person), () => ({
      paths: [["Analyst", "Lead"]],
    })),
  ];
  for (const tool of made) registry.register(tool);
  return { registry, tools: Object.fromEntries(made.map((tool) => [tool.name, tool])) };
}

function mock<Schema extends z.ZodObject>(
  name: string,
  description: string,
  argsSchema: Schema,
  answer: (args: z.output<Schema>) => unknown,
): MockTool {
  const calls: { readonly args: unknown; readonly context: unknown }[] = [];
  const tool = defineTool({
    name,
    description,
    argsSchema,
    effects: "pure",
    run: async ({ args, context }) => {
      calls.push({ args, context: structuredClone(context) });
      return answer(args);
    },
  });
  return { ...(tool as unknown as ToolMetadata), calls };
}
