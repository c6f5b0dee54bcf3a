import { z } from "zod";
import type { Json, JsonSchema } from "../../schema/values/json.ts";
import { defineAction, defineTool } from "../../tools/define.ts";
import { ToolRegistry } from "../../tools/registry.ts";
import { validatePlan, type PlanChecks } from "../validate-plan.ts";

/** Tools of every form that preflight treats in its own way. */
export function demoRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  const pure = (id: string, parameters: JsonSchema, outputSchema?: JsonSchema): void => {
    const definition = { id, description: id, parameters, ...(outputSchema === undefined ? {} : { outputSchema }) };
    registry.register({ definition, implementation: (args: Json) => Promise.resolve(args) });
  };
  pure(
    "demo::greet",
    {
      type: "object",
      properties: {
        who: { type: "string", minLength: 1 },
        times: { type: "integer", minimum: 1, default: 1 },
        mood: { enum: ["happy", "sad"] },
      },
      required: ["who", "times"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { text: { type: "string" }, words: { type: "array", items: { type: "string" } } },
      additionalProperties: false,
    },
  );
  pure("demo::any", { type: "object" });
  pure(
    "demo::sum",
    { type: "object", properties: { numbers: { type: "array", items: { type: "number" } } }, required: ["numbers"] },
    { type: "number" },
  );
  registry.register(
    defineAction({
      id: "lookUp",
      description: "finds a person",
      applicableRoles: ["analyst"],
      argsSchema: z.object({ personId: z.string(), depth: z.number().optional() }),
      getDefaultArgs: () => ({}),
      requiredContext: ["team"],
      energyUnits: 7,
      actionFn: () => Promise.resolve({ success: true }),
    }),
  );
  registry.register(
    defineTool({
      name: "count",
      description: "counts",
      argsSchema: z.object({
        n: z.number(),
        step: z.coerce.number().min(1).optional(),
        unit: z
          .string()
          .toLowerCase()
          .regex(/^[a-z]+$/)
          .optional(),
        mood: z.enum(["good", "bad"]).catch("good"),
        text: z.preprocess(String, z.string()).optional(),
      }),
      run: () => 1,
    }),
  );
  return registry;
}

const registry = demoRegistry();

/** What preflight says, one line for each problem: `error dangling_step $.steps[0].nextStepId`. */
export function said(plan: unknown, checks: Partial<PlanChecks> = {}): string[] {
  return validatePlan(plan, { registry, ...checks }).problems.map(
    ({ severity, code, path }) => `${severity} ${code} ${path}`,
  );
}

/** The messages of one code. */
export function messages(plan: unknown, code: string, checks: Partial<PlanChecks> = {}): string[] {
  const { problems } = validatePlan(plan, { registry, ...checks });
  return problems.filter((problem) => problem.code === code).map(({ message }) => message);
}

/** A plan that starts with its first step; steps may be anything. */
export function plan(steps: readonly unknown[], parts: object = {}): unknown {
  const [first] = steps as readonly { readonly id?: unknown }[];
  return { planId: "demo", startStepId: first?.id, steps, ...parts };
}

export function call(id: string, parts: object = {}): object {
  return { id, type: "tool_call", toolId: "demo::any", ...parts };
}
