import { z } from "zod";
import { registryError } from "../../errors/registry.ts";
import type { JsonSchema } from "../../schema/values/json.ts";
import { ToolDefinition } from "../../schema/tool.ts";
import { schemaIssues, type SchemaRules } from "../json-schema/check-schema.ts";
import { compileJsonSchema } from "../json-schema/compile.ts";
import type { JsonSchemas } from "../json-schema/json-schemas.ts";
import type { Tool, ToolArgs, ToolBody, ToolRun, Validated } from "../tool.ts";
import { FunctionField } from "./common-fields.ts";
import { guarded, nameOf, readForm, type Provenance } from "./read-form.ts";
import { present } from "../../schema/values/present.ts";

/** Spec 4's implementation: args in, a JSON value out. */
export type PureToolImplementation<Args = ToolArgs> = (args: Args, run: ToolRun) => Promise<unknown>;

/** What a `*.tool.ts` file exports. */
export type PureTool = {
  readonly definition: ToolDefinition;
  readonly implementation: (args: never, run: ToolRun) => unknown;
};

export type SchemaProvenance = Provenance & {
  /** Shares compiled schemas between tools; without it each tool compiles its own. */
  readonly schemas?: JsonSchemas;
};

/** Turns spec 4's form into a tool; throws `tool_invalid` or `schema_invalid`. */
export function adaptPureTool(tool: unknown, from: SchemaProvenance = {}): Tool {
  return guarded(KIND, definitionOf(tool), () => {
    const { implementation } = readForm(KIND, Fields, tool);
    const definition = readForm(KIND, ToolDefinition, definitionOf(tool));
    const { parameters, outputSchema } = definition;
    refuseBadSchemas(nameOf(KIND, definition), { parameters, outputSchema }, RULES);
    return pureTool({ definition, implementation: implementation as PureTool["implementation"] }, from);
  });
}

/** The same of a form that is known to be sound: one of Ergon's own, which the tests look at. */
export function pureTool({ definition, implementation }: PureTool, from: SchemaProvenance = {}): Tool {
  const { id, title, description, parameters, outputSchema, effects, tags } = definition;
  const { destructiveHint, alwaysAsk, timeoutMs, energyUnits } = definition;
  return {
    id,
    title: title ?? id,
    description,
    origin: "tool",
    effects: effects ?? "pure",
    parameters,
    applicableRoles: [],
    tags: tags ?? [],
    suggestedPrerequisites: [],
    suggestedPostrequisites: [],
    requiredContext: [],
    usesAI: false,
    ...present({ source: from.source, destructiveHint, alwaysAsk, outputSchema, timeoutMs, energyUnits }),
    body: jsonSchemaBody({ parameters, outputSchema, rules: RULES, schemas: from.schemas }, ({ args }, run) =>
      implementation(args as never, run),
    ),
  };
}

const KIND = "tool";
const RULES: SchemaRules = { unsupportedPatterns: "refuse" };

const Fields = z.object({ definition: z.unknown(), implementation: FunctionField });

type ToolSchemas = { readonly parameters: JsonSchema; readonly outputSchema: JsonSchema | undefined };

/** Throws `schema_invalid`, or `tool_invalid` when the parameters can never be an object. */
export function refuseBadSchemas(owner: string, schemas: ToolSchemas, rules: SchemaRules): void {
  for (const [field, schema] of Object.entries(schemas)) {
    const issues = schema === undefined ? [] : schemaIssues(schema, rules);
    if (issues.length === 0) continue;
    const listed = issues.map(({ path, message }) => `${field}${path}: ${message}`).join(" ");
    throw registryError("schema_invalid", `${owner} has an invalid JSON Schema: ${listed}`, { details: { issues } });
  }
  const { parameters } = schemas;
  const type = typeof parameters === "boolean" ? parameters : parameters["type"];
  if (type === true || type === undefined || type === "object" || (Array.isArray(type) && type.includes("object")))
    return;
  throw registryError(
    "tool_invalid",
    `${owner}: its parameters take ${JSON.stringify(type)}, but args are always an object.`,
  );
}

type SchemaBody = ToolSchemas & { readonly rules: SchemaRules; readonly schemas: JsonSchemas | undefined };

/** A body that validates by JSON Schema; the schemas are compiled when it is first asked for. */
export function jsonSchemaBody(schemas: SchemaBody, run: ToolBody["run"]): Tool["body"] {
  const { parameters, outputSchema, rules } = schemas;
  const compile = (schema: JsonSchema) => schemas.schemas?.compile(schema, rules) ?? compileJsonSchema(schema, rules);
  return async () => {
    const validateArgs = await compile(parameters);
    const validateOutput = outputSchema === undefined ? undefined : await compile(outputSchema);
    return {
      validateArgs: (args) => validateArgs(args) as Validated<ToolArgs>,
      ...(validateOutput === undefined ? {} : { validateOutput: unchanged(validateOutput) }),
      run,
    };
  };
}

/** Defaults are for args; a result stays what the tool returned. */
function unchanged(validate: (output: unknown) => Validated<unknown>): (output: unknown) => Validated<unknown> {
  return (output) => {
    const validated = validate(output);
    return validated.ok ? { ok: true, value: output } : validated;
  };
}

function definitionOf(tool: unknown): unknown {
  return typeof tool === "object" && tool !== null && "definition" in tool ? tool.definition : undefined;
}
