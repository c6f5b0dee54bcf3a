import { z } from "zod";
import type { JsonObject } from "../schema/values/json.ts";
import {
  AgenticPlan,
  Condition,
  ConditionalBranchStep,
  ContextValuePointer,
  FinalResponseStep,
  HumanInTheLoopStep,
  LoopOverItemsStep,
  ParallelBranchStep,
  PlanStep,
  PlanSteps,
  RetryPolicy,
  ToolCallStep,
} from "../schema/plan.ts";
import { FIELD_DOCS, TYPE_DOCS, type FieldDoc } from "./plan-field-docs.ts";

const TYPES = {
  Condition,
  ContextValuePointer,
  RetryPolicy,
  PlanStep,
  PlanSteps,
  ToolCallStep,
  ConditionalBranchStep,
  ParallelBranchStep,
  LoopOverItemsStep,
  HumanInTheLoopStep,
  FinalResponseStep,
} as const satisfies Record<string, z.ZodType>;

/** The JSON Schema (2020-12) of a plan file, with a description and an example on every field, for editors and models. */
export function planJsonSchema(): JsonObject {
  const ids = z.registry<{ id: string }>();
  for (const [id, type] of Object.entries(TYPES)) ids.add(type, { id });
  const schema = z.toJSONSchema(AgenticPlan, { io: "input", unrepresentable: "any", metadata: ids });
  const { $schema: dialect, $defs = {}, ...plan } = schema;
  const types = Object.entries($defs).map(([name, type]) => [name, described(name, type as JsonObject)]);
  return {
    $schema: dialect as string,
    title: "Ergon plan",
    ...described("AgenticPlan", plan as JsonObject),
    $defs: Object.fromEntries(types) as JsonObject,
  };
}

function described(name: string, schema: JsonObject): JsonObject {
  const description = TYPE_DOCS[name];
  const fields = FIELD_DOCS[name] ?? {};
  return {
    ...(description === undefined ? {} : { description }),
    ...schema,
    ...(schema["properties"] === undefined
      ? {}
      : { properties: documented(schema["properties"] as JsonObject, fields) }),
  };
}

function documented(properties: JsonObject, fields: Readonly<Record<string, FieldDoc>>): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const doc = fields[name] ?? FIELD_DOCS["PlanStep"]?.[name];
      if (doc === undefined) return [name, property];
      const [description, ...examples] = doc;
      return [name, { description, examples, ...(property as JsonObject) }];
    }),
  );
}
